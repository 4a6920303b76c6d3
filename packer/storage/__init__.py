"""Folders and object stores behind five verbs, and the sources in them.

A `folder`, whose files can be locked, and a `store` list, read and remove; a store also creates and
replaces. A `source` is opened here, whatever it is: one in a store is read from a `copy` of its
`objects`, and a compressed tar is `unpacked`. A finished `dataset` is opened as a folder, after a
`download` of one in a store.
`listing` and `writing` add verbs to the reader's store.
"""

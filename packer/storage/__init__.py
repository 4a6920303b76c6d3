"""Folders and object stores behind five verbs, and the sources that lie in them.

A `folder`, whose files can be locked, and a `store` list, read, create, replace and remove.
`open_source` is the door to what is packed: it is fetched and decompressed there. A `source` in a
store is read from a `copy` of its `objects`.
"""

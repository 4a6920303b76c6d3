"""Folders and object stores behind five verbs, and the sources that lie in them.

A `folder` and a `store` list, read, create, replace and remove. A `source` in a store is read from
a `copy` of its `objects`, which is filled under a `lock`; `decompress` writes the tar that a
compressed one holds.
"""

"""Folders and object stores: what lies there, read and written.

`store` brings objects into a store, through the thread of an `event_loop`. A `source` in a store is
listed (`listing`; `objects` says which of it a folder can have) and read from a `copy`, which
`transfer` fills under a `lock`; `decompress` keeps what a compressed tar holds.
"""

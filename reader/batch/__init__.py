"""Batches in shared memory, which workers fill in place.

`layout` says where each value lies in a slot and how many slots there are, `ring` lends them,
`pinned` page-locks them. `nested` knows the containers that people put batches into.
"""

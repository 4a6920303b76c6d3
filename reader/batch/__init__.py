"""Batches in shared memory, which workers fill in place.

`layout` says where each value lies in a slot, `ring` lends the slots, `pinned` page-locks them.
"""

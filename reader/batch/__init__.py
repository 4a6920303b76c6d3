"""Batches in shared memory, which workers fill in place.

`layout` computes the arrays of a slot and the number of slots, `ring` lends them, and `pinned`
page-locks them. `nested` maps over the containers that users put batches into.
"""

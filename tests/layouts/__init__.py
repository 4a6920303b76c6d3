"""Layouts as publishers and tools lay them out, each in miniature, and what becomes of each.

`notation` says how a row is written. Rows in `packed` are judged by what ``packer pack`` makes of
them, and of the commands that it prints; rows in `scanned` by all that a scan says.
"""

"""The layouts that are recognised: a module for each, and nothing else to be told of it.

A module says in its docstring what the layout is, whose documentation describes it, and what
becomes of it; the docs are made from that. Its ``recognise(place)`` looks at the names in
``place.tree``, and at the beginning of a list at most, and gives the `Reading`, or None. A layout
that is images and lists about them is a `packer.layouts.lists.Lists`, of which `listed.by_lists`
makes the reading.

A recogniser says yes where the layout is certain. Where two say yes, `detect` refuses the place
with both; which of them is likelier is not for them to decide.
"""

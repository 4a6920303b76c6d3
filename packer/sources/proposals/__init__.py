"""Commands that pack all of a source that is refused: templates of its paths, with its lists.

It knows no recogniser. `groups` divides the files by what their paths have in common, and a `group`
by the `ends` of its names; `bases` makes templates of these groups, and `complete` tries each, with
the lists that it leaves.
"""

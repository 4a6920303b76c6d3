"""Recognisers of layouts: each public function of these modules recognises one.

Its docstring describes the layout, links its documentation, and states the result; the
docs are made of that. It looks at the names in a candidate's ``tree``, and at the beginning of a
list at most, and returns the `Interpretation`, or None. `class_lists`, `box_lists`, `mask_lists`
and `matlab_lists` are publishers' images and lists, of which `packer.sources.scanners.rows`
makes it; `annotations`, `masks`, `tables` and `containers` are forms that many use.

A recogniser accepts a candidate only if the layout is certain. If two accept it, `detect` refuses
the candidate and names both.
"""

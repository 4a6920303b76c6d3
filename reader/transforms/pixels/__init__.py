"""Transforms of pixels: each draws operations, which `reader.transforms.operations` does.

`pixel_transform` says what such a transform is. `colours`, `values`, `neighbours` and `noise` have
those named after what they do; `automatic` and `augmix` choose from a `space` of operations, and
`policies` has the learnt choices.
"""

"""What is done with pixels: operations, whose numbers transforms draw.

`operation` says what an operation is, and `run` runs several in place, with OpenCV, in a row of a
batch. `linear` has those that are one matrix (brightness, contrast, saturation, grey), `values`
those that map each value, `hue` the turn of colours, `neighbours` blur and sharpness, `noise` noise
and erased boxes, `warps` warps within the frame, and `mixtures` a weighted sum of several.
"""

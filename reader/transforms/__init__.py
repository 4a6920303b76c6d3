"""The steps of a pipeline, with torchvision's names, arguments and rules.

`transform` says what a step is, and `pipeline` applies the steps to an image. `geometry` has those
that move pixels, as lazy maps. `known` says which class of torchvision is which of these.
"""

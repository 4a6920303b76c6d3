"""The steps of a pipeline, with torchvision's names, arguments and rules.

`transform` says what a step is, and `pipeline` applies the steps to an image. `geometry` has those
that move pixels, as lazy maps; `pixels` those that change them, by `operations`; `choices` those
that choose among others. `known` says which class of torchvision is which of these. `batches` has
what is done with a whole batch of their images, and `foreign` what only timm has.
"""

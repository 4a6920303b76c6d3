"""Copy and normalise batches on the device while the last step computes.

`prefetcher` has the public class, `transfer` copies and normalises one batch on a `device`, and
`agreed` says how, by the prefetcher's arguments and its loader's transforms.
"""

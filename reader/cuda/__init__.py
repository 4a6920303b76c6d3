"""Copy and normalise batches on the device while the last step computes.

`prefetcher` has the public class, `transfer` copies and normalises one batch on a `device`, and
`normalisation` has its arithmetic.
"""

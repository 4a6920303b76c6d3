"""The loader: from an order of samples to batches for a training loop.

`loader` is the public class, `arguments` its configuration, and `build` makes its parts. `pipeline`
schedules decoding, `tasks` divides a step into tasks, `prefetch` requests their samples from a
store, `collate` makes the batches, `mixer` mixes them, and `epochs` keeps the position in the
order. `autoscale` chooses the number of workers, and `decode_share` the images that they leave to a
GPU. `as_torch` has the attributes of a DataLoader, and `for_prefetcher` what a GPU needs.

`from_torchvision` and `from_timm` take a script's transforms, whose `tail` describes the batch;
`delivery` gives it that form, with the `images` that are found in it.
"""

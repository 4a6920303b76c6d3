"""The loader: from an order of samples to batches for a training loop.

`loader` is the class that people use, `arguments` its configuration, `build` makes its parts and
draws them. `schema` chooses the columns of a batch, `pipeline` decides what is decoded when and
where, `tasks` cuts a step into work, `prefetch` has it fetched from a store, `collate` delivers
batches, `epochs` is their place in the order. `autoscale` chooses how many workers there are;
`as_torch` is what scripts read of a DataLoader, `from_torchvision` has its transforms.
"""

"""The loader: from an order of samples to batches for a training loop.

`loader` is the class that people use, `arguments` what may be given to it, `epochs` its place in
the order. `feed` decides what is decoded when and where, `queued` is what it has under way,
`store_plans` has it fetched from a store, `tasks` cuts a step into work, `schema` says which arrays
a recipe needs, `collate` makes batches of them, `bad_samples` counts what could not be read,
`statistics` says what held it back, as a `table` too, `autoscale` how many workers it needs;
`preview` makes a batch to be looked at; `as_torch` is what scripts read of a DataLoader,
`from_torchvision` has its transforms as reader's.
"""

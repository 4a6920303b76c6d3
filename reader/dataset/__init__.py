"""A packed dataset: sample numbers to shards and rows.

`dataset` has the public class, and `arguments` the rules for its arguments. `locator` maps samples,
also of a subset, to shards and rows; `numbered` finds and reads them. `mix` makes one of several,
one after the other, and `joined` adds the members of others to each sample.
`sources` finds shards by number, in a folder, in the cache of a store, or of several datasets.
`open_shards` keeps a thread's shards open, and `shard` is one with its index. `tar_bytes` reads a
shard's tar from a file or memory, `cached_bytes` from the cache of a store. `shared_memory` keeps
shards once for all processes. `as_torch` makes a dataset torch's, `as_webdataset` makes it the
source of webdataset's pipelines, `coco_target` makes torchvision's targets, and `page` shows it in
a notebook.
"""

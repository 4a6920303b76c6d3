"""The fields of a batch, a kind of column for each: its size, how it is stored and delivered.

`column` is what they have in common, and those of numbers and texts; `image` are decoded images,
`encoded` JPEGs for the GPU's decoder, `member` masks, arrays, boxes and whatever else members hold.
`kinds` says how each kind of field is read, and which column it has. `values` says what fits an
array, `schema` puts a batch together, `row_writer` stores its rows in workers, `tensors` is what
only the loop's process needs, where batches are delivered.
"""

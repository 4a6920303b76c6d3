"""The fields of samples and batches: how each is read, its column, and its delivery.

`field` has the fields that users name, `kinds` finds the one for an argument, and `members` reads
those of members. `boxes`, `points` and `polygons` parse coordinates (also YOLO's lines) and
transform them with the image; `overlays` has what they share. `sample` reads and transforms one
sample, `pixels` decodes images, or takes them from the memory of `decoded_cache`; `raw` reads
uncompressed images in bulk, and `seeding` seeds the generators of user code.

`column` has the base of columns, numbers and texts; `image` decoded images; `encoded` JPEGs for the
GPU's decoder; `member` masks, arrays and other members. `values` converts values to arrays,
`schema` combines the columns of a batch, `row_writer` stores rows in workers, and `tensors`
delivers them in the loop's process.
"""

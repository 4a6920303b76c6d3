"""The fields of samples and batches: how each is read, its column, its delivery and drawing.

`field` has the base of fields. `built_in` has those that every sample has, `encoded` the image that
a GPU decodes, `members` those of members and of values in JSON, `pictures` those over the image:
pictures, masks and bands. `boxes`, `points` and `polygons` parse coordinates (also YOLO's lines)
and transform them with the image; `overlays` has what they share. `kinds` finds the field for an
argument; a new kind is one class, whose objects the user gives.

`columns` has the columns of a batch, `schema` chooses them before the workers start, `values`
converts values to arrays, and `tensors` delivers them in the loop's process.

In workers, `sample` reads and transforms one sample, `pixels` decodes its image, or takes it from
the memory of `decoded_cache`, `staged` changes its pixels, and `row_writer` stores it. `raw` reads
uncompressed images in bulk, and `seeding` seeds the generators of user code.
"""

"""The fields of a batch; each kind of column defines its size, storage and delivery.

`column` has the base class, numbers and texts; `image` decoded images; `encoded` JPEGs for the
GPU's decoder; `member` masks, arrays, boxes and other members. `kinds` chooses how each kind of
field is read, and its column. `values` converts values to arrays, `schema` combines the columns of
a batch, `row_writer` stores rows in workers, and `tensors` delivers them in the loop's process.
"""

"""Files: written whole or not at all, read in full, and known again.

`atomic` writes, `transfer` reads and writes all of what is asked for, `hashed_file` reads and
hashes, `snapshot` notices that a file has changed, `output_folder` takes names that nobody has
looked at, `braces` expands names of shards.
"""

"""Files: written whole or not at all, read in full, and known again.

`atomic` writes, `hashed_file` reads in full and hashes, `snapshot` notices that a file has changed,
`text` reads text of any usual encoding, `scripts` knows encodings of other scripts than Latin,
`names` takes names from outside: in braces, and of files that it writes into one folder.
"""

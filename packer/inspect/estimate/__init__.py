"""Estimate of what reading a dataset takes, before it is read: `packer plan`.

`setting` is what is asked, and what the indexes hold; `reading` who reads what in an epoch,
`traffic` what comes of the store and of the cache; `words` puts an `estimate` into sentences.
"""

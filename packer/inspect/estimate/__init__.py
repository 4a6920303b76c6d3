"""Estimate of what reading a dataset takes, before it is read: `packer plan`.

`reading` is what is asked, what the indexes hold, and who reads what in an epoch,
`traffic` what comes of the store and of the cache; `words` puts an `estimate` into sentences.
"""

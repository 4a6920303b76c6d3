"""Estimate of what reading a dataset takes, before it is read: `packer plan`.

`reading` is what is asked, what the indexes hold, and who reads what in an epoch; an `estimate`
is what comes of the store and of the cache, and what it takes; `words` puts it into sentences.
"""

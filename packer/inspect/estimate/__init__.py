"""What reading a dataset will take, before it is read: `packer plan`.

`setting` is what is asked, and what the indexes hold; `reading` who reads what in an epoch,
`traffic` what comes of the store and of the cache. `estimate` puts them together with the memory
that is held and the time it takes, and with what another setting would change; `words` puts that
into sentences.
"""

"""What reading a dataset will take, before it is read: `packer plan`.

`setting` is what is asked, `stored` what the indexes tell of the dataset, `reading` who reads what
in an epoch, `traffic` what comes of the store and of the cache, `memory` what is held, `bound` how
long it takes and why. `estimate` puts them together, and says what another setting would change;
`told` says it in words. Those are pure; `probe` measures how fast a store answers.
"""

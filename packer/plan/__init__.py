"""Planning of a run, before anything is written.

`prepare` does a `scan` of a source, compares it with what is `existing`, divides its classes where
they are to `stratify`, describes it in a sentence and makes a `plan` of its shards: `work`, which
gives a job for each. `members` does so for members whose images are in another dataset; `moved`
finds samples that an append would store again; `names` spells the shards of all.
"""

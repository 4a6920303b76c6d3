"""How sources arrange images, labels and splits.

A source is looked at first and scanned once. `trees` are folders, tars and zips, `tables` what
names images in rows, `containers` the files of other libraries that hold them. `readings`
recognises what a tree is and gives an `interpretation`, which has one of the `scanners`; `members`
are for the samples of a finished dataset. `evidence` refuses a source in which an ignored file
names its images, `audit` asks what a scan may have lost, and `proposals` finds the commands that
keep all of a source that is refused.
"""

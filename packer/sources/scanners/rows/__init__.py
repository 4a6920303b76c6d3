"""The one scanner of all that lists images: tables, text lists, and annotation files.

A form gives `Lists` (`lists`), with a `Row` for each image, and `source` makes the samples: keys,
members, splits, and the files that no row names. `tables` are rows of CSV and the like, `parquet`
those that hold their images. `containers` are entries of other libraries' files: their fields have
`roles`, `entry_objects` finds objects in them, and `entry_survey` classes and keys. The other forms
are in the readings.
"""

"""The one scanner of all that lists images: tables, text lists, and annotation files.

A form gives `Lists` (`lists`), with a `Row` for each image, and `source` makes the samples: keys,
members, splits, and the files that no row names. `tables` are rows of CSV and the like, `parquet`
those that hold their images, `containers` entries of other libraries' files, with their objects
(`entry_objects`), classes and keys (`entry_survey`) and `roles`; the other forms are in the
readings.
"""

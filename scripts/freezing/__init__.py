"""The cases of freeze.py: every layout, odd image, kind of source and option, by name."""

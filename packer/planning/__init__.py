"""`scan` lists a source into a `listing`, and compares it with `existing` samples."""

"""YOLO's label files, and the files that name their classes and splits.

`yolo` gives the rows of a `find` in a folder. `data_file` reads ultralytics' ``data.yaml`` and
darknet's ``obj.data``, `paths` says where their paths lead, `lines` what a label file's lines are.
"""

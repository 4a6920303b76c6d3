"""YOLO's label files, and the files that name their classes and splits.

`find` finds the images of a folder or a data file, and `yolo` gives their rows. `data_file` reads
ultralytics' ``data.yaml`` and darknet's ``obj.data``, `lines` checks a label file's lines.
"""

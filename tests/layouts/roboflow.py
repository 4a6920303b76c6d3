"""Roboflow's exports but for YOLO, COCO and VOC, whose modules have them.

docs.roboflow.com/datasets/dataset-versions/exporting-a-dataset
"""

from layouts.row import Read, Row

HEAD = "filename,width,height,class,xmin,ymin,xmax,ymax\n"
ABOUT = {"README.roboflow.txt": "pets - v1", "README.dataset.txt": "# pets"}

ROWS = [
    Row(
        "Roboflow's Tensorflow Object Detection CSV, with an image without objects",
        "train/1.jpg train/2.jpg train/3.jpg valid/4.jpg",
        Read(
            {"train/1": None, "train/2": None, "train/3": None, "valid/4": None},
            {"train/1": "train", "train/2": "train", "train/3": "train", "valid/4": "valid"},
            {"train/1": ("json",), "train/2": ("json",), "train/3": (), "valid/4": ("json",)},
            frozenset(ABOUT),
            classes=("cat", "dog"),
            json={
                "train/1": {"boxes": [[1, 2, 14, 10], [5, 6, 2, 2]], "categories": [1, 0]},
                "train/2": {"boxes": [[0, 0, 16, 16]], "categories": [0]},
            },
        ),
        contents={
            "train/_annotations.csv": f"{HEAD}1.jpg,16,16,dog,1,2,15,12\n"
            "2.jpg,16,16,cat,0,0,16,16\n1.jpg,16,16,cat,5,6,7,8\n",
            "valid/_annotations.csv": f"{HEAD}4.jpg,16,16,dog,1,2,15,12\n",
            **ABOUT,
        },
    ),
    Row(
        "Roboflow's folder structure, of a classification",
        "train/cat/1.jpg train/dog/2.jpg valid/cat/3.jpg test/dog/4.jpg",
        Read(
            {"train/cat/1": "cat", "train/dog/2": "dog", "valid/cat/3": "cat"}
            | {"test/dog/4": "dog"},
            {"train/cat/1": "train", "train/dog/2": "train", "valid/cat/3": "valid"}
            | {"test/dog/4": "test"},
            ignored=frozenset(ABOUT),
        ),
        contents=ABOUT,
    ),
    Row(
        "Roboflow's Multi Label CSV",
        "train/1.jpg train/2.jpg",
        Read(
            {"train/1": None, "train/2": None},
            {"train/1": "train", "train/2": "train"},
            ("json",),
            frozenset(ABOUT),
            classes=("cat", "dog"),
            json={"train/1": {"labels": [0, 1]}, "train/2": {"labels": []}},
        ),
        contents={"train/_classes.csv": "filename,cat,dog\n1.jpg,1,1\n2.jpg,0,0\n", **ABOUT},
    ),
    Row(
        "Roboflow's semantic masks",
        "train/1.jpg train/1_mask.png train/2.jpg train/2_mask.png",
        r"differ in \.jpg, _mask\.png.*--member 'mask\.png=train/",
        contents={"train/_classes.csv": "Pixel Value, Class\n0, background\n1, cat\n", **ABOUT},
    ),
    Row(
        "Roboflow's semantic masks, as pairs",
        "train/1.jpg train/1_mask.png train/2.jpg train/2_mask.png",
        Read(
            {"train/1": None, "train/2": None},
            {"train/1": "train", "train/2": "train"},
            ("mask.png",),
            frozenset({"train/_classes.csv", *ABOUT}),
        ),
        {"kind": "pairs"},
        contents={"train/_classes.csv": "Pixel Value, Class\n0, background\n1, cat\n", **ABOUT},
    ),
]

"""YOLO's layouts: ultralytics', darknet's, and those that tools export.

docs.ultralytics.com/datasets/detect has data.yaml and the folders, github.com/AlexeyAB/darknet
obj.data.
"""

from layouts.row import Read, Row

BOX = "0 0.5 0.5 0.25 0.5\n"
OUTLINE = "1 0.1 0.1 0.9 0.1 0.9 0.9\n"
POSE = "0 0.5 0.5 0.25 0.5 0.4 0.4 2 0.6 0.6 1\n"  # kpt_shape: [2, 3]
NAMES = ("person", "bike")
COCO8 = "images/train/1.jpg images/train/2.jpg images/val/3.jpg"
COCO8_LABELS = {"labels/train/1.txt": BOX, "labels/val/3.txt": BOX + "1 0 0 1 1\n"}
COCO8_SPLITS = {"images/train/1": "train", "images/train/2": "train", "images/val/3": "val"}
TXT: tuple[str, ...] = ("txt",)
COCO8_MEMBERS = {"images/train/1": TXT, "images/train/2": (), "images/val/3": TXT}

# docs.ultralytics.com/datasets/detect/coco8
COCO8_YAML = """
# Ultralytics COCO8 dataset
path: coco8 # dataset root dir
train: images/train # train images (relative to 'path') 4 images
val: images/val
test: # test images (optional)

names:
  0: person
  1: bike

download: https://github.com/ultralytics/assets/releases/download/v0.0.0/coco8.zip
"""


def read(splits: dict[str, str], members: dict[str, tuple[str, ...]], **more: object) -> Read:
    more.setdefault("classes", NAMES)
    named = {key: split for key, split in splits.items() if split}
    return Read(dict.fromkeys(splits), named, members, **more)


# docs.roboflow.com/datasets/dataset-versions/exporting-a-dataset: YOLOv8
ROBOFLOW_YAML = """train: ../train/images
val: ../valid/images
test: ../test/images

nc: 2
names: ['person', 'bike']

roboflow:
  workspace: some
  project: some-abc
  version: 1
  license: CC BY 4.0
"""
ROBOFLOW = "train/images/1.jpg valid/images/2.jpg test/images/3.jpg"
ROBOFLOW_LABELS = {
    "train/labels/1.txt": BOX,
    "valid/labels/2.txt": "",
    "test/labels/3.txt": BOX,
    "data.yaml": ROBOFLOW_YAML,
    "README.roboflow.txt": "some - v1",
    "README.dataset.txt": "# some",
}
ROBOFLOW_READ = read(
    {"train/images/1": "train", "valid/images/2": "val", "test/images/3": "test"},
    dict.fromkeys(("train/images/1", "valid/images/2", "test/images/3"), TXT),
    ignored=frozenset({"README.roboflow.txt", "README.dataset.txt"}),
    what="YOLO, 2 names from data.yaml",
)
DARKNET = {
    "data/obj.data": "classes = 2\ntrain = data/train.txt\nvalid = data/test.txt\n"
    "names = data/obj.names\nbackup = backup/\n",
    "data/obj.names": "person\nbike\n",
    "data/train.txt": "data/obj/1.jpg\ndata/obj/2.jpg\n",
    "data/test.txt": "data/obj/3.jpg\n",
    "data/obj/1.txt": BOX,
    "data/obj/3.txt": BOX,
}

ROWS = [
    Row(
        "coco8 as its zip unpacks, without data.yaml",
        f"coco8/{COCO8.replace(' ', ' coco8/')}",
        read(
            COCO8_SPLITS,
            COCO8_MEMBERS,
            classes=(),
            ignored=frozenset({"LICENSE", "README.md"}),
            what="YOLO, its classes without names",
        ),
        contents={f"coco8/{name}": text for name, text in COCO8_LABELS.items()}
        | {"coco8/LICENSE": "x", "coco8/README.md": "x"},
    ),
    Row(
        "coco8 with data.yaml, which says path: coco8",
        COCO8,
        read(COCO8_SPLITS, COCO8_MEMBERS, what="YOLO, 2 names from data.yaml"),
        contents=COCO8_LABELS | {"data.yaml": COCO8_YAML},
    ),
    Row(
        "coco8.yaml beside coco8",
        f"coco8/{COCO8.replace(' ', ' coco8/')}",
        read(
            {f"coco8/{key}": split for key, split in COCO8_SPLITS.items()},
            {f"coco8/{key}": members for key, members in COCO8_MEMBERS.items()},
            what="YOLO, 2 names from coco8.yaml",
        ),
        contents={f"coco8/{name}": text for name, text in COCO8_LABELS.items()}
        | {"coco8.yaml": COCO8_YAML},
        src="coco8.yaml",
    ),
    Row(
        "coco8.yaml in ultralytics' repository, the dataset in datasets",
        f"datasets/coco8/{COCO8.replace(' ', ' datasets/coco8/')}",
        read(COCO8_SPLITS, COCO8_MEMBERS),
        contents={f"datasets/coco8/{name}": text for name, text in COCO8_LABELS.items()}
        | {"ultralytics/coco8.yaml": COCO8_YAML},
        src="ultralytics/coco8.yaml",
    ),
    # docs.ultralytics.com/datasets/detect/coco128: train and val are the same images
    Row(
        "coco128: one folder for train and val, names as a list with an anchor",
        "images/train2017/1.jpg images/train2017/2.jpg",
        read(
            {"images/train2017/1": "train", "images/train2017/2": "train"},
            {"images/train2017/1": TXT, "images/train2017/2": ()},
            ignored=frozenset({"val: images/train2017"}),
        ),
        contents={
            "labels/train2017/1.txt": BOX,
            "data.yaml": "all: &all [person, bike]\npath: ../datasets/coco128\n"
            "train: images/train2017\nval: images/train2017\nnames: *all\n",
        },
    ),
    # docs.ultralytics.com/datasets/detect/coco: lists; and absolute paths of another machine
    Row(
        "lists of images, relative, absolute and with backslashes, some in two",
        "images/a/1.jpg images/a/2.jpg images/b/3.jpg images/b/4.jpg images/b/5.jpg",
        read(
            {"images/a/1": "train", "images/a/2": "train", "images/b/3": "val"}
            | {"images/b/4": "test"},
            {"images/a/1": TXT, "images/a/2": (), "images/b/3": TXT, "images/b/4": ()},
            ignored=frozenset({"images/b/5.jpg", "val.txt: images/a/1.jpg"}),
        ),
        contents={
            "data.yaml": "train: train.txt\nval: val.txt\ntest: test.txt\nnames: [person, bike]\n",
            "train.txt": "./images/a/1.jpg\n./images/a/2.jpg\n",
            "val.txt": "/home/me/data/images/b/3.jpg\n/home/me/data/images/a/1.jpg\n",
            "test.txt": "C:\\data\\images\\b\\4.jpg\n",
            "labels/a/1.txt": BOX,
            "labels/b/3.txt": BOX,
        },
    ),
    Row(
        "a split of several folders",
        "images/a/1.jpg images/b/2.jpg images/c/3.jpg images/d/4.jpg",
        read(
            {"images/a/1": "train", "images/b/2": "train", "images/c/3": "val"},
            {"images/a/1": TXT, "images/b/2": (), "images/c/3": ()},
            ignored=frozenset({"images/d/"}),
        ),
        contents={
            "data.yaml": "train: [images/a, images/b]\nval: images/c\nnc: 2\nnames: [person, bike]",
            "labels/a/1.txt": BOX,
        },
    ),
    Row("Roboflow's YOLOv8", ROBOFLOW, ROBOFLOW_READ, contents=ROBOFLOW_LABELS),
    Row(
        "Roboflow's YOLOv8, whose test split was not exported",
        "train/images/1.jpg valid/images/2.jpg",
        read(
            {"train/images/1": "train", "valid/images/2": "val"},
            dict.fromkeys(("train/images/1", "valid/images/2"), TXT),
            ignored=frozenset({"README.roboflow.txt", "README.dataset.txt", "test/images"}),
        ),
        contents={name: text for name, text in ROBOFLOW_LABELS.items() if "test" not in name},
    ),
    Row(
        "Roboflow's YOLOv8 without its data.yaml",
        ROBOFLOW,
        read(
            {"train/images/1": "train", "valid/images/2": "valid", "test/images/3": "test"},
            dict.fromkeys(("train/images/1", "valid/images/2", "test/images/3"), TXT),
            classes=(),
        ),
        contents={name: text for name, text in ROBOFLOW_LABELS.items() if "labels" in name},
    ),
    # docs.roboflow.com/datasets/dataset-versions/exporting-a-dataset: YOLO Darknet
    Row(
        "Roboflow's YOLO Darknet: labels beside the images",
        "train/1.jpg train/2.jpg valid/3.jpg",
        read(
            {"train/1": "train", "train/2": "train", "valid/3": "valid"},
            {"train/1": TXT, "train/2": (), "valid/3": TXT},
            ignored=frozenset({"valid/_darknet.labels"}),
        ),
        contents={
            "train/_darknet.labels": "person\nbike\n",
            "valid/_darknet.labels": "person\nbike\n",
            "train/1.txt": BOX,
            "valid/3.txt": BOX,
        },
    ),
    Row(
        "darknet's obj.data",
        "data/obj/1.jpg data/obj/2.jpg data/obj/3.jpg",
        read(
            {"data/obj/1": "train", "data/obj/2": "train", "data/obj/3": "valid"},
            {"data/obj/1": TXT, "data/obj/2": (), "data/obj/3": TXT},
            what="YOLO, 2 names from obj.data",
        ),
        contents=DARKNET,
    ),
    # docs.cvat.ai/docs/manual/advanced/formats/format-yolo: there is no data/
    Row(
        "CVAT's YOLO 1.1",
        "obj_train_data/1.jpg obj_train_data/2.jpg",
        read(
            {"obj_train_data/1": "train", "obj_train_data/2": "train"},
            {"obj_train_data/1": TXT, "obj_train_data/2": TXT},
        ),
        contents={
            "obj.data": "classes = 2\ntrain = data/train.txt\nnames = data/obj.names\n"
            "backup = backup/\n",
            "obj.names": "person\nbike\n",
            "train.txt": "data/obj_train_data/1.jpg\ndata/obj_train_data/2.jpg\n",
            "obj_train_data/1.txt": BOX,
            "obj_train_data/2.txt": "",
        },
    ),
    # labelstud.io/guide/export: YOLO
    Row(
        "Label Studio's YOLO",
        "images/1.jpg images/2.jpg",
        read(
            {"images/1": "", "images/2": ""},
            {"images/1": TXT, "images/2": TXT},
            ignored=frozenset({"notes.json"}),
            what="YOLO, 2 names from classes.txt",
        ),
        contents={
            "classes.txt": "person\nbike\n",
            "notes.json": "{}",
            "labels/1.txt": BOX,
            "labels/2.txt": BOX,
        },
    ),
    # github.com/HumanSignal/labelImg: YOLO, beside the images
    Row(
        "labelImg's YOLO",
        "1.jpg 2.jpg",
        read({"1": "", "2": ""}, {"1": TXT, "2": ()}),
        contents={"classes.txt": "person\nbike\n", "1.txt": BOX},
    ),
    # docs.ultralytics.com/datasets/segment
    Row(
        "YOLO's outlines",
        "images/train/1.jpg images/train/2.jpg",
        read(
            {"images/train/1": "train", "images/train/2": "train"},
            {"images/train/1": TXT, "images/train/2": TXT},
            what="YOLO, outlines .segments or oriented boxes., 2 names",
        ),
        contents={
            "data.yaml": "train: images/train\nnames: [person, bike]\n",
            "labels/train/1.txt": OUTLINE + BOX,
            "labels/train/2.txt": OUTLINE,
        },
    ),
    # docs.ultralytics.com/datasets/pose
    Row(
        "YOLO's poses",
        "images/train/1.jpg",
        read({"images/train/1": "train"}, {"images/train/1": TXT}, what="YOLO, poses, 2 names"),
        contents={
            "data.yaml": "train: images/train\nkpt_shape: [2, 3]\nnames: [person, bike]\n",
            "labels/train/1.txt": POSE,
        },
    ),
    Row(
        "YOLO, with what is wrong with single labels",
        "images/1.jpg images/2.jpg images/3.jpg images/4.jpg images/5.jpg images/6.jpg",
        read(
            {"images/1": "", "images/2": ""},
            {"images/1": TXT, "images/2": TXT},
            ignored=frozenset({"labels/train.cache"}),
            rejected=frozenset(
                f"{name}{ext}"
                for number in (3, 4, 5, 6)
                for name, ext in ((f"images/{number}", ".jpg"), (f"labels/{number}", ".txt"))
            )
            | {"labels/9.txt"},
        ),
        contents={
            "classes.txt": "person\nbike\n",
            "labels/1.txt": BOX,
            "labels/2.txt": BOX + "\n",
            "labels/3.txt": "2 0.5 0.5 0.5 0.5",  # a class without a name
            "labels/4.txt": "0 50 50 20 20",  # pixels
            "labels/5.txt": POSE + "0 0.5 0.5 0.25 0.5 0.9",  # a confidence
            "labels/6.txt": "cat 0.5 0.5 0.5 0.5",
            "labels/9.txt": BOX,
            "labels/train.cache": "x",
        },
    ),
    Row(
        "a data.yaml whose images are not there",
        "docs/1.jpg",
        "data.yaml places its images in images/train",
        contents={"data.yaml": "train: images/train\nnames: [person]\n"},
    ),
    Row(
        "a data.yaml whose nc is not that of its names",
        "images/train/1.jpg",
        "nc is 3, and names has 1",
        contents={"data.yaml": "train: images/train\nnc: 3\nnames: [person]\n"},
    ),
    Row(
        "two data files",
        "images/train/1.jpg",
        "several data files of YOLO locate the images: a.yaml, b.yaml",
        contents=dict.fromkeys(("a.yaml", "b.yaml"), "train: images/train\nnames: [person]\n"),
    ),
    Row(
        "a YAML file of another kind beside images",
        "cat/1.jpg dog/2.jpg",
        Read({"cat/1": "cat", "dog/2": "dog"}, ignored=frozenset({"config.yaml"})),
        contents={"config.yaml": "train: {epochs: 3}\nlr: 0.1\n"},
    ),
]

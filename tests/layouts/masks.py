"""Images with masks: Cityscapes, ADE20K, MVTec AD, KITTI, and folders of people's own."""

from layouts.row import Read, Row

CITY = "aachen_000000_000019"
GT = f"gtFine/train/aachen/{CITY}_gtFine"
KITTI = (
    "Car 0.00 1 -1.57 599.41 156.40 629.75 189.25 2.85 2.63 12.34 0.47 1.49 69.44 -1.56\n"
    "DontCare -1 -1 -10 503.89 169.71 590.61 190.13 -1 -1 -1 -1000 -1000 -1000 -10\n"
)
MASK = ("mask.png",)

ROWS = [
    # cityscapes-dataset.com/dataset-overview, github.com/mcordts/cityscapesScripts
    Row(
        "Cityscapes",
        f"leftImg8bit/train/aachen/{CITY}_leftImg8bit.png {GT}_labelIds.png {GT}_instanceIds.png "
        f"{GT}_color.png leftImg8bit/val/ulm/ulm_1_leftImg8bit.png "
        "gtFine/val/ulm/ulm_1_gtFine_labelIds.png license.txt",
        Read(
            {
                f"leftImg8bit/train/aachen/{CITY}_leftImg8bit": None,
                "leftImg8bit/val/ulm/ulm_1_leftImg8bit": None,
            },
            {
                f"leftImg8bit/train/aachen/{CITY}_leftImg8bit": "train",
                "leftImg8bit/val/ulm/ulm_1_leftImg8bit": "val",
            },
            {
                f"leftImg8bit/train/aachen/{CITY}_leftImg8bit": ("mask.png", "instances.png"),
                "leftImg8bit/val/ulm/ulm_1_leftImg8bit": MASK,
            },
            frozenset({f"{GT}_color.png", f"{GT}_polygons.json", "license.txt"}),
            what="Cityscapes",
        ),
        contents={f"{GT}_polygons.json": "{}"},
    ),
    # groups.csail.mit.edu/vision/datasets/ADE20K, sceneparsing.csail.mit.edu
    Row(
        "ADE20K of the scene parsing challenge",
        "ADEChallengeData2016/images/training/ADE_train_00000001.jpg "
        "ADEChallengeData2016/images/validation/ADE_val_00000001.jpg "
        "ADEChallengeData2016/annotations/training/ADE_train_00000001.png "
        "ADEChallengeData2016/annotations/validation/ADE_val_00000001.png "
        "ADEChallengeData2016/objectInfo150.txt ADEChallengeData2016/sceneCategories.txt",
        Read(
            {"training/ADE_train_00000001": None, "validation/ADE_val_00000001": None},
            {
                "training/ADE_train_00000001": "train",
                "validation/ADE_val_00000001": "validation",
            },
            MASK,
            frozenset({"../objectInfo150.txt", "../sceneCategories.txt"}),
        ),
    ),
    Row(
        "ADE20K in a folder that is named as a split",
        "train/ADE/images/training/1.jpg train/ADE/images/validation/2.jpg "
        "train/ADE/annotations/training/1.png train/ADE/annotations/validation/2.png",
        "training, validation in train/ADE/images are named like splits",
    ),
    # mvtec.com/company/research/datasets/mvtec-ad
    Row(
        "MVTec AD, one object",
        "bottle/train/good/000.png bottle/test/good/000.png bottle/test/broken_large/000.png "
        "bottle/test/broken_large/001.png bottle/ground_truth/broken_large/000_mask.png "
        "bottle/license.txt bottle/readme.txt",
        Read(
            {"train/good/000": "good", "test/good/000": "good"}
            | {"test/broken_large/000": "broken_large"},
            {"train/good/000": "train", "test/good/000": "test", "test/broken_large/000": "test"},
            {"train/good/000": (), "test/good/000": (), "test/broken_large/000": MASK},
            frozenset({"license.txt", "readme.txt"}),
            frozenset({"test/broken_large/001.png"}),
            what="MVTec AD",
        ),
    ),
    Row(
        "MVTec AD, several objects",
        "bottle/train/good/0.png bottle/test/good/0.png bottle/ground_truth/broken/0_mask.png "
        "cable/train/good/0.png cable/test/good/0.png cable/ground_truth/bent/0_mask.png",
        "ground_truth has the name of a folder of masks",
    ),
    # cvlibs.net/datasets/kitti/eval_object.php?obj_benchmark=2d
    Row(
        "KITTI's objects",
        "training/image_2/000000.png training/image_3/000000.png testing/image_2/000000.png",
        Read(
            {"training/image_2/000000": None, "testing/image_2/000000": None},
            {"training/image_2/000000": "train", "testing/image_2/000000": "test"},
            {"training/image_2/000000": ("json",), "testing/image_2/000000": ()},
            frozenset({"training/image_3/", "training/calib/000000.txt"}),
            classes=("Car", "DontCare"),
            json={
                "training/image_2/000000": {
                    "boxes": [[599.41, 156.4, 629.75, 189.25], [503.89, 169.71, 590.61, 190.13]],
                    "categories": [0, 1],
                    "truncated": [0, -1],
                    "occluded": [1, -1],
                    "dimensions": [[2.85, 2.63, 12.34], [-1, -1, -1]],
                }
            },
            what="KITTI's objects",
        ),
        contents={"training/label_2/000000.txt": KITTI, "training/calib/000000.txt": "P0: 1"},
    ),
    Row(
        "KITTI's objects, with a label file of another kind and one without an image",
        "training/image_2/000000.png training/image_2/000001.png",
        Read(
            {"training/image_2/000000": None},
            {"training/image_2/000000": "train"},
            ("json",),
            rejected=frozenset(
                {"training/image_2/000001.png", "training/label_2/000001.txt"}
                | {"training/label_2/000002.txt"}
            ),
            classes=("Car", "DontCare"),
        ),
        contents={
            "training/label_2/000000.txt": KITTI,
            "training/label_2/000001.txt": "0 0.5 0.5 0.5 0.5",
            "training/label_2/000002.txt": KITTI,
        },
    ),
    # cvlibs.net/datasets/kitti/eval_semantics.php
    Row(
        "KITTI's semantic masks",
        "training/image_2/0_10.png training/semantic/0_10.png training/semantic_rgb/0_10.png "
        "training/instance/0_10.png testing/image_2/1_10.png",
        Read(
            {"training/image_2/0_10": None, "testing/image_2/1_10": None},
            {"training/image_2/0_10": "train", "testing/image_2/1_10": "test"},
            {"training/image_2/0_10": ("mask.png", "instances.png"), "testing/image_2/1_10": ()},
            frozenset({"training/semantic_rgb/"}),
            what="semantic",
        ),
    ),
    # cvlibs.net/datasets/kitti/eval_scene_flow.php?benchmark=stereo
    Row(
        "KITTI's stereo",
        "training/image_2/0_10.png training/image_3/0_10.png training/disp_occ_0/0_10.png",
        r"without training/label_2 or training/semantic.*packer pack \S*image_2 DST.*--pair "
        r"'disp_occ_0\?=",
    ),
    Row(
        "splits with images and masks",
        "train/images/1.jpg train/images/2.jpg train/masks/1.png train/masks/2.png "
        "val/images/3.jpg val/masks/3.png",
        Read(
            {"train/images/1": None, "train/images/2": None, "val/images/3": None},
            {"train/images/1": "train", "train/images/2": "train", "val/images/3": "val"},
            MASK,
            what="images and masks",
        ),
    ),
    # kaggle.com/c/carvana-image-masking-challenge
    Row(
        "Carvana: train_masks beside train, and a test without masks",
        "train/1.jpg train/2.jpg train_masks/1_mask.gif train_masks/2_mask.gif test/3.jpg",
        Read(
            {"train/1": None, "train/2": None, "test/3": None},
            {"train/1": "train", "train/2": "train", "test/3": "test"},
            {"train/1": ("mask.gif",), "train/2": ("mask.gif",), "test/3": ()},
        ),
    ),
    # kaggle.com/datasets/tawsifurrahman/covid19-radiography-database
    Row(
        "images and masks in each class folder",
        "COVID/images/1.png COVID/masks/1.png Normal/images/2.png Normal/masks/2.png",
        Read({"COVID/images/1": "COVID", "Normal/images/2": "Normal"}, members=MASK),
    ),
    Row(
        "images and masks in folders that may be sets",
        "ds1/images/1.png ds1/masks/1.png ds2/images/2.png ds2/masks/2.png",
        "ds1, ds2.* may be classes, or parts of one set.*--class-depth 1",
    ),
    # davischallenge.org
    Row(
        "videos and the masks of their frames",
        "JPEGImages/480p/bear/0.jpg JPEGImages/480p/bear/1.jpg JPEGImages/480p/swan/0.jpg "
        "Annotations/480p/bear/0.png Annotations/480p/bear/1.png Annotations/480p/swan/0.png",
        "they may be frames of videos.*--class-depth 1",
    ),
    # saliencydetection.net/duts
    Row(
        "DUTS: DUTS-TR-Image and DUTS-TR-Mask",
        "DUTS-TR/DUTS-TR-Image/1.jpg DUTS-TR/DUTS-TR-Image/2.jpg DUTS-TR/DUTS-TR-Mask/1.png "
        "DUTS-TR/DUTS-TR-Mask/2.png",
        Read({"DUTS-TR-Image/1": None, "DUTS-TR-Image/2": None}, members=MASK),
    ),
    Row(
        "images and masks whose names end in _seg",
        "images/1.jpg images/2.jpg masks/1_seg.png masks/2_seg.png",
        Read({"images/1": None, "images/2": None}, members=MASK),
    ),
    Row(
        "images and some masks, as pairs",
        "images/train/1.jpg images/train/2.jpg images/val/3.jpg masks/train/1.png masks/val/3.png",
        Read(
            {"images/train/1": None, "images/train/2": None, "images/val/3": None},
            {"images/train/1": "train", "images/train/2": "train", "images/val/3": "val"},
            {"images/train/1": MASK, "images/train/2": (), "images/val/3": MASK},
        ),
        {"kind": "pairs"},
    ),
    Row(
        "images and some masks, one of no image, as pairs",
        "images/1.jpg images/2.jpg masks/1.png masks/9.png",
        Read(
            {"images/1": None, "images/2": None},
            members={"images/1": MASK, "images/2": ()},
            rejected=frozenset({"masks/9.png"}),
        ),
        {"kind": "pairs"},
    ),
    # scholar.cu.edu.eg/?q=afahmy/pages/dataset: Dataset_BUSI_with_GT
    Row(
        "BUSI: masks beside the images",
        "benign/b1.png benign/b1_mask.png malignant/m1.png malignant/m1_mask.png",
        r"differ in \.png, _mask\.png.*--member 'mask\.png=.*--as folder",
    ),
    Row(
        "BUSI, as pairs",
        "benign/b1.png benign/b1_mask.png malignant/m1.png malignant/m1_mask.png",
        Read({"benign/b1": "benign", "malignant/m1": "malignant"}, members=MASK),
        {"kind": "pairs"},
    ),
    Row(
        "images and masks beside them, paired by hand",
        "pictures/1.jpg others/1_mask.png others/1.png",
        Read({"1": None}, members=MASK, rejected=frozenset({"../others/1_mask.png"})),
        {"pairs": {"mask": "../others"}},
        src="pictures",
    ),
    Row(
        "images without masks, as pairs",
        "cat/1.jpg dog/2.jpg",
        "is not a source for --as pairs",
        {"kind": "pairs"},
    ),
]

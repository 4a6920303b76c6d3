"""Folders of images: nothing but names tells what they mean."""

from layouts.row import Read, Row, in_splits

_COUNTED = ("1", "2", "3")
_FREE = ("7", "31", "40", "902")  # no counter


def _files(folders: str, names: tuple[str, ...] = _COUNTED, form: str = "{0}/{1}.jpg") -> str:
    return " ".join(form.format(folder, name) for folder in folders.split() for name in names)


def _refused() -> list[Row]:
    """What looks like class folders, with the commands to choose from."""
    return [
        # justchenhao.github.io/LEVIR
        Row(
            "two pictures of one place and their label, in splits",
            _files("train/A train/B train/label test/A test/B test/label", form="{0}/{1}.png"),
            r"A, B, label have the same names.*--images '\{split\}/A/\{key\}' "
            r"--member 'b=\{split\}/B/\{key\}'.*--as folder",
        ),
        Row(
            "low and high resolution",
            _files("HR LR"),
            "HR, LR have the same names.*Each image in HR has.*Each image in LR has",
        ),
        Row(
            "JPEG and PNG of the same names",
            _files("photos2") + " " + _files("others", form="{0}/{1}.png"),
            "photos2, others have the same names|others, photos2 have the same names",
        ),
        Row(
            "names that end in what the folder holds",
            _files("one") + " " + _files("two", form="{0}/{1}_segmentation.png"),
            r"--images 'one/\{key\}' --member 'two=two/\{key\}_segmentation'",
        ),
        Row(
            "pictures beside pictures of the same names",
            _files("cat dog") + " " + _files("cat dog", form="{0}/{1}_thumb.jpg"),
            r"\.jpg, _thumb\.jpg at the end.*--images '\{label\}/\{key\}\.jpg'.*--as folder",
        ),
        Row("x.jpg with x.png", "1.jpg 2.jpg 1.png 2.png", r"\.jpg, \.png at the end"),
        # kaggle.com/datasets/iarunava/cell-images-for-detecting-malaria
        Row(
            "a nested copy",
            _files("cat dog all/cat all/dog"),
            r"all has images of the same names.*--ignore 'all/\*\*'",
        ),
        Row(
            "thumbnails in each class folder",
            _files("cat dog cat/thumbs dog/thumbs"),
            r"--ignore '\*\*/thumbs/\*\*'",
        ),
        Row(
            "chunks",
            _files("chunk_000 chunk_001"),
            "chunk_000, chunk_001 look like numbered parts.*--as flat.*--as folder",
        ),
        # github.com/NVlabs/ffhq-dataset
        Row("chunks of a thousand", "00000/00001.png 01000/01001.png", "numbered parts.*--as flat"),
        # github.com/rom1504/img2dataset
        Row(
            "chunks whose images are numbered throughout",
            "00000/000000000.jpg 00000/000000001.jpg 00001/000010000.jpg 00001/000010001.jpg",
            "numbered throughout",
        ),
        Row("days", _files("2021-03-01 2021-03-02"), "look like dates"),
        Row("letters of a hash", "0a/0a39f1.jpg ff/ffe811.jpg", "first letters of the names"),
        Row(
            "one folder with all images",
            "all/1.jpg all/2.jpg labels.txt",
            "all images are in all, which would be the only class.*--as folder.*--as flat",
        ),
        Row(
            "a stray image beside a folder of classes",
            "animals/cat/1.jpg animals/dog/2.jpg screenshot.png",
            "animals has no images, only the folders cat, dog",
        ),
        Row(
            "a class in two forms of Unicode",
            "caf\u00e9/1.jpg cafe\u0301/2.jpg tea/3.jpg",
            "have names that look the same.*rename them",
        ),
        # people.eecs.berkeley.edu/~taesung_park/CycleGAN/datasets
        Row(
            "splits and domains",
            "trainA/1.jpg trainB/2.jpg testA/3.jpg testB/4.jpg",
            r"--images '\{split=test\}test\{label\}/\{key\}'.*--as folder",
        ),
    ]


ROWS = [
    Row(
        "classes counted from 1",
        _files("cat dog fox"),
        Read({f"{name}/{n}": name for name in ("cat", "dog", "fox") for n in _COUNTED}),
    ),
    Row(
        "classes whose images have the same names",
        _files("cat dog", _FREE),
        Read({f"{name}/{n}": name for name in ("cat", "dog") for n in _FREE}),
    ),
    Row(
        "digits, each counted from 1",
        _files("0 1 2"),
        Read({f"{name}/{n}": name for name in "012" for n in _COUNTED}),
    ),
    # benchmark.ini.rub.de
    Row(
        "class numbers with zeros in front, each counted from 0",
        "00000/00000_00000.png 00000/00000_00001.png 00001/00000_00000.png",
        Read(
            {"00000/00000_00000": "00000", "00000/00000_00001": "00000"}
            | {"00001/00000_00000": "00001"}
        ),
    ),
    Row(
        "classes mask and no_mask",
        _files("mask no_mask"),
        Read({f"{name}/{n}": name for name in ("mask", "no_mask") for n in _COUNTED}),
    ),
    Row(
        "folders of other things beside class folders",
        "cat/1.jpg dog/2.jpg checkpoints/model.pth logs/train.log src/model.py",
        Read(
            {"cat/1": "cat", "dog/2": "dog"},
            ignored=frozenset({"checkpoints/model.pth", "logs/train.log", "src/model.py"}),
        ),
    ),
    # torchvision.datasets.ImageFolder: root/class/xxx.ext
    Row("class folders", "cat/1.jpg dog/2.jpg", Read({"cat/1": "cat", "dog/2": "dog"})),
    Row(
        "classes with accents, one of which continues the other by a word for images",
        "café/1.jpg café-images/2.jpg",
        Read({"café/1": "café", "café-images/2": "café-images"}),
    ),
    Row("images alone", "1.jpg 2.jpg", Read({"1": None, "2": None})),
    Row(
        "images in a folder of that name", "images/1.jpg images/2.jpg", Read({"1": None, "2": None})
    ),
    Row(
        "splits of ImageNet",
        "train/n01/1.jpg train/n02/2.jpg val/n01/3.jpg test/4.jpg",
        in_splits(
            {"train/n01/1": "n01", "train/n02/2": "n02", "val/n01/3": "n01", "test/4": None},
            train="train",
            val="val",
            test="test",
        ),
    ),
    # kaggle.com/datasets/masoudnickparvar/brain-tumor-mri-dataset
    Row(
        "Training and Testing",
        "Training/glioma/1.jpg Training/pituitary/2.jpg Testing/glioma/3.jpg",
        in_splits(
            {"Training/glioma/1": "glioma", "Training/pituitary/2": "pituitary"}
            | {"Testing/glioma/3": "glioma"},
            Training="train",
            Testing="test",
        ),
    ),
    Row(
        "Train and Test",
        "Train/a/1.jpg Train/b/2.jpg Test/a/3.jpg",
        in_splits(
            {"Train/a/1": "a", "Train/b/2": "b", "Test/a/3": "a"}, Train="train", Test="test"
        ),
    ),
    Row(
        "train, dev and test",
        "train/a/1.jpg dev/a/2.jpg test/b/3.jpg",
        in_splits(
            {"train/a/1": "a", "dev/a/2": "a", "test/b/3": "b"},
            train="train",
            dev="dev",
            test="test",
        ),
    ),
    Row(
        "valid and testing",
        "training/a/1.jpg valid/a/2.jpg testing/b/3.jpg",
        in_splits(
            {"training/a/1": "a", "valid/a/2": "a", "testing/b/3": "b"},
            training="train",
            valid="valid",
            testing="test",
        ),
    ),
    # kaggle.com/datasets/puneet6060/intel-image-classification
    Row(
        "seg_train in seg_train",
        "seg_train/seg_train/sea/1.jpg seg_train/seg_train/forest/2.jpg "
        "seg_test/seg_test/sea/3.jpg seg_pred/seg_pred/4.jpg",
        in_splits(
            {"seg_train/seg_train/sea/1": "sea", "seg_train/seg_train/forest/2": "forest"}
            | {"seg_test/seg_test/sea/3": "sea", "seg_pred/seg_pred/4": None},
            seg_train="train",
            seg_test="test",
            seg_pred="pred",
        ),
    ),
    # kaggle.com/c/dogs-vs-cats, unzipped
    Row(
        "train in train, images alone",
        "train/train/cat.0.jpg train/train/dog.0.jpg test1/test1/1.jpg",
        in_splits(
            {"train/train/cat%2E0": None, "train/train/dog%2E0": None, "test1/test1/1": None},
            train="train",
            test1="test",
        ),
    ),
    Row(
        "one more folder beside splits",
        "train/a/1.jpg val/a/2.jpg extra_data/a/3.jpg",
        r"train, val are named like splits, and extra_data is not.*'\{label\}/\{key\}'",
    ),
    Row(
        "the same as classes",
        "train/1.jpg val/2.jpg extra_data/3.jpg",
        Read({"extra_data/3": "extra_data", "train/1": "train", "val/2": "val"}),
        {"kind": "folder"},
    ),
    Row(
        "one more folder beside splits, without images",
        "train/a/1.jpg val/a/2.jpg weights/best.bin",
        Read(
            {"train/a/1": "a", "val/a/2": "a"},
            {"train/a/1": "train", "val/a/2": "val"},
            ignored=frozenset({"weights/best.bin"}),
        ),
    ),
    Row("a train among cars", "train/1.jpg bus/2.jpg", Read({"train/1": "train", "bus/2": "bus"})),
    Row(
        "a test among classes",
        "cat/1.jpg dog/2.jpg Test/3.jpg",
        "Test is named like splits, and cat, dog are not",
    ),
    Row(
        "a train beside masks",
        "train/1.jpg masks/2.jpg",
        "train is named like splits, and masks is not",
    ),
    Row(
        "a test among the classes of a split",
        "train/cat/1.jpg train/test/2.jpg val/cat/3.jpg",
        "test in train is named like splits, beside class folders",
    ),
    Row("two folders of one split", "train/a/1.jpg Training/a/2.jpg", "would become one split"),
    Row(
        "splits below the classes",
        "bottle/train/1.jpg bottle/test/2.jpg cable/train/3.jpg cable/test/4.jpg",
        "bottle has the splits test, train in it",
    ),
    # github.com/phelber/EuroSAT
    Row(
        "a folder in a folder",
        "eurosat/2750/Forest/1.jpg eurosat/2750/River/2.jpg",
        Read({"Forest/1": "Forest", "River/2": "River"}),
    ),
    Row(
        "data/train",
        "data/train/a/1.jpg data/train/b/2.jpg data/val/a/3.jpg data/README.md LICENSE",
        Read(
            {"train/a/1": "a", "train/b/2": "b", "val/a/3": "a"},
            {"train/a/1": "train", "train/b/2": "train", "val/a/3": "val"},
            ignored=frozenset({"README.md", "../LICENSE"}),
        ),
    ),
    # data.vision.ee.ethz.ch/cvl/datasets_extra/food-101
    Row(
        "Food-101 without its lists",
        "images/apple_pie/1.jpg images/waffles/2.jpg meta/classes.txt README.txt",
        Read(
            {"apple_pie/1": "apple_pie", "waffles/2": "waffles"},
            ignored=frozenset({"../meta/classes.txt", "../README.txt"}),
        ),
    ),
    # cs231n.stanford.edu/tiny-imagenet-200.zip
    Row(
        "Tiny-ImageNet",
        "tiny/train/n01/images/1.JPEG tiny/train/n01/n01_boxes.txt tiny/train/n02/images/2.JPEG "
        "tiny/test/images/3.JPEG tiny/wnids.txt",
        Read(
            {"train/n01/images/1": "n01", "train/n02/images/2": "n02", "test/images/3": None},
            {"train/n01/images/1": "train", "train/n02/images/2": "train", "test/images/3": "test"},
            ignored=frozenset({"train/n01/n01_boxes.txt", "wnids.txt"}),
        ),
    ),
    # vision.princeton.edu/projects/2010/SUN
    Row(
        "SUN397",
        "a/abbey/1.jpg a/airfield/2.jpg b/bar/indoor/3.jpg b/bar/outdoor/4.jpg",
        r"a has no images, only the folders abbey, airfield.* '\{label:all\}/\{key\}'",
    ),
    Row(
        "SUN397, each folder a class",
        "a/abbey/1.jpg a/airfield/2.jpg b/bar/indoor/3.jpg b/bar/outdoor/4.jpg",
        Read(
            {"a/abbey/1": "a/abbey", "a/airfield/2": "a/airfield"}
            | {"b/bar/indoor/3": "b/bar/indoor", "b/bar/outdoor/4": "b/bar/outdoor"}
        ),
        {"class_depth": -1},
    ),
    # github.com/brendenlake/omniglot: images_background/ALPHABET/CHARACTER
    Row(
        "Omniglot",
        "images_background/Greek/character01/1.png images_background/Greek/character02/2.png "
        "images_background/Latin/character01/3.png images_background/Latin/character02/4.png",
        "Greek has no images, only",
    ),
    Row(
        "Omniglot, two levels",
        "images_background/Greek/character01/1.png images_background/Latin/character01/3.png",
        Read(
            {"Greek/character01/1": "Greek/character01", "Latin/character01/3": "Latin/character01"}
        ),
        {"class_depth": 2},
    ),
    Row(
        "Places365, two levels in splits",
        "train/a/airfield/1.jpg train/b/bar/2.jpg val/a/airfield/3.jpg",
        in_splits(
            {"train/a/airfield/1": "a/airfield", "train/b/bar/2": "b/bar"}
            | {"val/a/airfield/3": "a/airfield"},
            train="train",
            val="val",
        ),
        {"class_depth": 2},
    ),
    Row(
        "folders of frames, one class",
        "run/v1/1.jpg run/v2/2.jpg jump/v3/3.jpg jump/v4/4.jpg",
        Read({"run/v1/1": "run", "run/v2/2": "run", "jump/v3/3": "jump", "jump/v4/4": "jump"}),
        {"class_depth": 1},
    ),
    Row(
        "folders that mean nothing",
        "one/1.jpg two/2.jpg",
        Read({"one/1": None, "two/2": None}),
        {"kind": "flat"},
    ),
    Row(
        "images and masks",
        "images/1.jpg images/2.jpg masks/1.png masks/2.png",
        Read({"1": None, "2": None}, members=("mask.png",)),
    ),
    Row(
        "images and some masks",
        "images/1.jpg images/2.jpg masks/1.png",
        "masks has the name of a folder of masks",
    ),
    Row(
        "images and masks in splits",
        "images/train/1.jpg images/val/2.jpg masks/train/1.png masks/val/2.png",
        Read(
            {"train/1": None, "val/2": None},
            {"train/1": "train", "val/2": "val"},
            members=("mask.png",),
        ),
    ),
    # robots.ox.ac.uk/~vgg/data/pets
    Row(
        "Oxford Pet",
        "images/a_1.jpg images/b_2.jpg annotations/trimaps/a_1.png annotations/trimaps/b_2.png "
        "annotations/trimaps/._a_1.png annotations/list.txt",
        Read(
            {"a_1": None, "b_2": None},
            members=("mask.png",),
            ignored=frozenset({"../annotations/list.txt", "../annotations/trimaps/._a_1.png"}),
        ),
    ),
    # docs.ultralytics.com/datasets/detect
    Row(
        "YOLO",
        "images/train/1.jpg labels/train/1.txt",
        "labels/train/1.txt names 1 of the 1 images",
    ),
    Row("Roboflow", "train/images/1.jpg train/labels/1.txt data.yaml", "labels/1.txt names 1"),
    # host.robots.ox.ac.uk/pascal/VOC
    Row(
        "VOC",
        "JPEGImages/1.jpg Annotations/1.xml ImageSets/Main/train.txt",
        "Annotations/1.xml names 1 of the 1 images",
    ),
    Row(
        "faces with and without masks",
        "with_mask/1.jpg without_mask/2.jpg",
        Read({"with_mask/1": "with_mask", "without_mask/2": "without_mask"}),
    ),
    Row(
        "litter",
        "cat/1.jpg cat/._1.jpg cat/Thumbs.db dog/2.jpg .DS_Store __MACOSX/cat/._1.jpg "
        "@eaDir/1.jpg .ipynb_checkpoints/1.jpg .git/HEAD",
        Read(
            {"cat/1": "cat", "dog/2": "dog"},
            ignored=frozenset(
                {"cat/._1.jpg", "cat/Thumbs.db", ".DS_Store", "__MACOSX", "@eaDir", ".git"}
                | {".ipynb_checkpoints"}
            ),
        ),
    ),
    *_refused(),
]

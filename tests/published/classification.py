"""Datasets for classification, as their publishers lay them out."""

import json

import numpy as np

from published.images import picture
from published.making import archived, images, lines, mat, named, of, tar, zipped
from published.row import Layout, Truth

_WNIDS = ("n01440764", "n01443537")
_TV = "torchvision.datasets."
_TFDS = "tensorflow_datasets, "


def _folders(classes: dict[str, list[str]], top: str = "", split: str = "") -> dict[str, Truth]:
    """Return the truth of class folders; the label is the folder's own name."""
    return {
        f"{top}{folder}/{name}": of(folder, split=split)
        for folder, names in classes.items()
        for name in names
    }


# ImageNet


def _imagenet_train(number: int = 3) -> dict[str, list[str]]:
    return {wnid: [f"{wnid}_{n}.JPEG" for n in range(10, 10 + number)] for wnid in _WNIDS}


def _imagenet_tars() -> Layout:
    inner = {f"{wnid}.tar": tar(images(names)) for wnid, names in _imagenet_train().items()}
    val = [f"ILSVRC2012_val_0000000{n}.JPEG" for n in range(1, 5)]
    devkit = tar(
        {
            "ILSVRC2012_devkit_t12/data/ILSVRC2012_validation_ground_truth.txt": "2\n1\n1\n2\n",
            "ILSVRC2012_devkit_t12/data/meta.mat": mat(
                synsets=[[1, "n01440764"], [2, "n01443537"]]
            ),
            "ILSVRC2012_devkit_t12/readme.txt": "Development kit.\n",
        },
        "gz",
    )
    truth: dict[str, Truth] = {
        f"ILSVRC2012_img_train/{wnid}/{name}": of(wnid, split="train")
        for wnid, names in _imagenet_train().items()
        for name in names
    }
    for name, number in zip(val, (2, 1, 1, 2), strict=True):
        truth[f"ILSVRC2012_img_val/{name}"] = of(_WNIDS[number - 1], split="val")
    files: dict[str, str | bytes] = {
        "imagenet/ILSVRC2012_img_train.tar": tar(inner),
        "imagenet/ILSVRC2012_img_val.tar": tar(images(val)),
        "imagenet/ILSVRC2012_devkit_t12.tar.gz": devkit,
    }
    return Layout(
        "ImageNet, its tars beside the devkit", _TV + "ImageNet", files, truth, "imagenet"
    )


def _imagenet_openmmlab() -> Layout:
    train = [(w, f"train/{w}/{name}") for w, ns in _imagenet_train().items() for name in ns]
    val = [f"ILSVRC2012_val_0000000{n}.JPEG" for n in range(1, 7)]
    marks = (1, 0, 0, 1, 1, 0)
    files = images([f"data/imagenet/{path}" for _, path in train])
    files |= images([f"data/imagenet/val/{name}" for name in val])
    files["data/imagenet/meta/train.txt"] = lines(
        f"{path[6:]} {_WNIDS.index(w)}" for w, path in train
    )
    files["data/imagenet/meta/val.txt"] = lines(f"{n} {m}" for n, m in zip(val, marks, strict=True))
    truth = {path: of(w, split="train") for w, path in train}
    for name, mark in zip(val, marks, strict=True):
        truth[f"val/{name}"] = of(_WNIDS[mark], str(mark), split="val")
    return Layout(
        "ImageNet as OpenMMLab wants it, with meta/train.txt and meta/val.txt",
        "mmpretrain, docs/en/user_guides/dataset_prepare.md",
        files,
        truth,
        "data/imagenet",
    )


def _imagenet_caffe() -> Layout:
    row = _imagenet_openmmlab()
    top = "data/imagenet/"
    files = {path: text for path, text in row.files.items() if "/meta/" not in path}
    files[top + "caffe_ilsvrc12/train.txt"] = row.files[top + "meta/train.txt"]
    files[top + "caffe_ilsvrc12/val.txt"] = row.files[top + "meta/val.txt"]
    files[top + "caffe_ilsvrc12/synsets.txt"] = lines(_WNIDS)
    files[top + "caffe_ilsvrc12/synset_words.txt"] = lines(
        ["n01440764 tench, Tinca tinca", "n01443537 goldfish, Carassius auratus"]
    )
    truth = dict(row.truth)
    return Layout(
        "ImageNet with the lists of caffe_ilsvrc12",
        "mmclassification, docs/tutorials/new_dataset.md; caffe_ilsvrc12.tar.gz",
        files,
        truth,
        "data/imagenet",
    )


def _imagenet_kaggle() -> Layout:
    below = "ILSVRC/Data/CLS-LOC"
    truth: dict[str, Truth] = {}
    train = ["ImageId,PredictionString"]
    for wnid, names in _imagenet_train().items():
        for n, name in enumerate(names):
            truth[f"{below}/train/{wnid}/{name}"] = of(wnid, split="train")
            if n != 1:  # the table has those with a box only
                train.append(f"{name[:-5]},{wnid} 1 2 15 20 ")
    val = ["ImageId,PredictionString"]
    for n in range(1, 5):
        wnid = _WNIDS[n % 2]
        truth[f"{below}/val/ILSVRC2012_val_0000000{n}.JPEG"] = of(wnid, split="val")
        val.append(f"ILSVRC2012_val_0000000{n},{wnid} 2 3 11 14 {wnid} 1 1 9 9 ")
        truth[f"{below}/test/ILSVRC2012_test_0000000{n}.JPEG"] = of(split="test")
    files = images(f"imagenet/{path}" for path in truth)
    for n in range(1, 5):
        xml = (
            f"<annotation><folder>val</folder><filename>ILSVRC2012_val_0000000{n}</filename>"
            "<size><width>24</width><height>24</height><depth>3</depth></size>"
            f"<object><name>{_WNIDS[n % 2]}</name><bndbox><xmin>2</xmin><ymin>3</ymin>"
            "<xmax>11</xmax><ymax>14</ymax></bndbox></object></annotation>"
        )
        files[f"imagenet/ILSVRC/Annotations/CLS-LOC/val/ILSVRC2012_val_0000000{n}.xml"] = xml
    files["imagenet/ILSVRC/ImageSets/CLS-LOC/train_cls.txt"] = lines(
        f"{w}/{name[:-5]} {n}"
        for n, (w, name) in enumerate(
            ((w, name) for w, ns in _imagenet_train().items() for name in ns), 1
        )
    )
    files["imagenet/ILSVRC/ImageSets/CLS-LOC/val.txt"] = lines(
        f"ILSVRC2012_val_0000000{n} {n}" for n in range(1, 5)
    )
    files["imagenet/ILSVRC/ImageSets/CLS-LOC/test.txt"] = lines(
        f"ILSVRC2012_test_0000000{n} {n}" for n in range(1, 5)
    )
    files["imagenet/LOC_synset_mapping.txt"] = lines(
        ["n01440764 tench, Tinca tinca", "n01443537 goldfish, Carassius auratus"]
    )
    files["imagenet/LOC_train_solution.csv"] = lines(train)
    files["imagenet/LOC_val_solution.csv"] = lines(val)
    files["imagenet/LOC_sample_submission.csv"] = lines(
        ["ImageId,PredictionString"]
        + [f"ILSVRC2012_test_0000000{n},1000 0 0 75 75" for n in range(1, 5)]
    )
    return Layout(
        "ImageNet as Kaggle has it, with LOC_*.csv",
        "https://www.kaggle.com/c/imagenet-object-localization-challenge/data",
        files,
        truth,
        "imagenet",
    )


def _imagenet_c() -> Layout:
    truth = {
        f"{kind}/{level}/{wnid}/ILSVRC2012_val_0000000{n}.JPEG": of(wnid)
        for kind in ("gaussian_noise", "shot_noise")
        for level in (1, 2)
        for wnid in _WNIDS
        for n in (1, 2)
    }
    return Layout(
        "ImageNet-C, two corruptions of two levels",
        "https://github.com/hendrycks/robustness; https://zenodo.org/record/2235448",
        images(f"noise/{path}" for path in truth),
        truth,
        "noise",
    )


def _imagenet_r() -> Layout:
    truth = {
        f"{wnid}/{kind}_{n}.jpg": of(wnid)
        for wnid in _WNIDS
        for kind in ("art", "cartoon", "sketch")
        for n in (0, 1)
    }
    files = images(f"imagenet-r/{path}" for path in truth)
    files["imagenet-r/README.txt"] = (
        "This is the ImageNet-R(endition) dataset.\nImageNet-R class list:\n"
        "n01440764 tench\nn01443537 goldfish\n"
    )
    return Layout(
        "ImageNet-R", "https://github.com/hendrycks/imagenet-r", files, truth, "imagenet-r"
    )


def _imagenet_a() -> Layout:
    truth = {
        f"{wnid}/0.0{n}1_tench _ goldfish_0.94{n}.jpg": of(wnid)
        for wnid in _WNIDS
        for n in range(4)
    }
    files = images(f"imagenet-a/{path}" for path in truth)
    files["imagenet-a/README.txt"] = "n01440764 tench\nn01443537 goldfish\n"
    return Layout(
        "ImageNet-A",
        "https://github.com/hendrycks/natural-adv-examples",
        files,
        truth,
        "imagenet-a",
    )


def _imagenet_sketch() -> Layout:
    truth = {f"sketch/{wnid}/sketch_{n}.JPEG": of(wnid) for wnid in _WNIDS for n in range(4)}
    return Layout(
        "ImageNet-Sketch, its zip",
        "https://github.com/HaohanWang/ImageNet-Sketch",
        {"ImageNet-Sketch.zip": zipped(images(truth))},
        truth,
        "ImageNet-Sketch.zip",
    )


def _tiny_imagenet() -> Layout:
    truth: dict[str, Truth] = {}
    files: dict[str, str | bytes] = {}
    top = "tiny-imagenet-200/"
    for wnid in _WNIDS:
        for n in range(3):
            truth[f"train/{wnid}/images/{wnid}_{n}.JPEG"] = of(wnid, split="train")
        files[f"{top}train/{wnid}/{wnid}_boxes.txt"] = lines(
            f"{wnid}_{n}.JPEG\t0\t{n + 1}\t20\t21" for n in range(3)
        )
    rows = []
    for n in range(4):
        wnid = _WNIDS[n % 2]
        truth[f"val/images/val_{n}.JPEG"] = of(wnid, split="val")
        rows.append(f"val_{n}.JPEG\t{wnid}\t0\t{n}\t20\t22")
        truth[f"test/images/test_{n}.JPEG"] = of(split="test")
    files |= images(top + path for path in truth)
    files[top + "val/val_annotations.txt"] = lines(rows)
    files[top + "wnids.txt"] = lines(_WNIDS)
    files[top + "words.txt"] = "n01440764\ttench, Tinca tinca\nn01443537\tgoldfish\n"
    return Layout(
        "Tiny ImageNet",
        "http://cs231n.stanford.edu/tiny-imagenet-200.zip; " + _TFDS + "Dataset requests #287",
        files,
        truth,
        "tiny-imagenet-200",
    )


# Fine-grained


def _cub() -> Layout:
    classes = ("001.Black_footed_Albatross", "002.Laysan_Albatross")
    names = [f"{c}/{c[4:]}_000{n}_{796100 + n}.jpg" for c in classes for n in range(1, 5)]
    train = [1, 0, 1, 0, 0, 1, 1, 0]
    truth = {
        f"CUB_200_2011/images/{name}": of(
            name.split("/")[0], name.split("/")[0][4:], split="train" if t else "test"
        )
        for name, t in zip(names, train, strict=True)
    }
    files = images(f"cub/{path}" for path in truth)
    top = "cub/CUB_200_2011/"
    files[top + "README"] = "Images are organized in subdirectories based on species.\n"
    files[top + "images.txt"] = lines(f"{n} {name}" for n, name in enumerate(names, 1))
    files[top + "image_class_labels.txt"] = lines(f"{n} {1 + n // 5}" for n in range(1, 9))
    files[top + "train_test_split.txt"] = lines(f"{n} {t}" for n, t in enumerate(train, 1))
    files[top + "classes.txt"] = lines(f"{n} {c}" for n, c in enumerate(classes, 1))
    files[top + "bounding_boxes.txt"] = lines(f"{n} 2.0 3.0 15.0 16.0" for n in range(1, 9))
    files[top + "attributes/image_attribute_labels.txt"] = lines(
        f"{n} 1 {n % 2} 3 27.7080" for n in range(1, 9)
    )
    files[top + "attributes/certainties.txt"] = "1 not visible\n3 probably\n4 definitely\n"
    files[top + "parts/parts.txt"] = "1 back\n2 beak\n"
    files[top + "parts/part_locs.txt"] = lines(f"{n} 1 0.0 0.0 0" for n in range(1, 9))
    files["cub/attributes.txt"] = "1 has_bill_shape::curved_(up_or_down)\n"
    return Layout("CUB-200-2011", _TFDS + "caltech_birds2011", files, truth, "cub")


def _cub_inner() -> Layout:
    row = _cub()
    truth = {path.split("/", 1)[1]: fact for path, fact in row.truth.items()}
    return Layout(
        "CUB-200-2011, the folder itself", row.source, row.files, truth, "cub/CUB_200_2011"
    )


def _cars_devkit() -> Layout:
    truth = {
        f"cars_train/0000{n}.jpg": of(f"Car {n % 3}", str(n % 3 + 1), split="train")
        for n in range(1, 7)
    }
    truth |= {
        f"cars_test/0000{n}.jpg": of(f"Car {n % 3}", str(n % 3 + 1), split="test")
        for n in range(1, 7)
    }
    files = images(f"stanford_cars/{path}" for path in truth)
    names = ("bbox_x1", "bbox_y1", "bbox_x2", "bbox_y2", "class", "fname")
    rows = [(2, 3, 14, 15, n % 3 + 1, f"0000{n}.jpg") for n in range(1, 7)]
    annotations = np.array(rows, [(name, "O") for name in names])
    files["stanford_cars/devkit/cars_train_annos.mat"] = mat(annotations=annotations)
    files["stanford_cars/devkit/cars_meta.mat"] = mat(
        class_names=np.array(["Car 0", "Car 1", "Car 2"], object)
    )
    files["stanford_cars/devkit/train_perfect_preds.txt"] = lines(str(n % 3) for n in range(1, 7))
    files["stanford_cars/devkit/eval_train.m"] = "% evaluate\n"
    files["stanford_cars/devkit/README.txt"] = "annotations: bbox, class, fname\n"
    files["stanford_cars/cars_test_annos_withlabels.mat"] = mat(annotations=annotations)
    return Layout(
        "Stanford Cars with its devkit", _TV + "StanfordCars", files, truth, "stanford_cars"
    )


def _cars_texts() -> Layout:
    row = _cars_devkit()
    files = dict(row.files)
    texts = mat(annotations=[[2, 3, 14, 15, n % 3 + 1, f"0000{n}.jpg"] for n in range(1, 7)])
    files["stanford_cars/devkit/cars_train_annos.mat"] = texts
    files["stanford_cars/cars_test_annos_withlabels.mat"] = texts
    return Layout(
        "Stanford Cars whose annotations were saved as texts",
        "https://docs.scipy.org/doc/scipy/reference/generated/scipy.io.savemat.html",
        files,
        row.truth,
        "stanford_cars",
    )


def _cars_kaggle() -> Layout:
    classes = ("Acura RL Sedan 2012", "Ram C-V Cargo Van Minivan 2012")
    truth: dict[str, Truth] = {}
    tables: dict[str, list[str]] = {"train": [], "test": []}
    number = 0
    for split in ("train", "test"):
        for c, name in enumerate(classes, 1):
            for _ in range(3):
                number += 1
                truth[f"car_data/car_data/{split}/{name}/{number:05}.jpg"] = of(name, split=split)
                tables[split].append(f"{number:05}.jpg,2,3,15,17,{c}")
    files = images(f"cars/{path}" for path in truth)
    files["cars/anno_train.csv"] = lines(tables["train"])
    files["cars/anno_test.csv"] = lines(tables["test"])
    files["cars/names.csv"] = lines(classes)
    return Layout(
        "Stanford Cars by class folder, as Kaggle has it",
        "https://www.kaggle.com/datasets/jutrera/stanford-car-dataset-by-classes-folder",
        files,
        truth,
        "cars",
    )


def _aircraft() -> Layout:
    rows = [
        ("0034309", "707-320", "Boeing 707", "Boeing", "train"),
        ("0034958", "A300B4", "A300", "Airbus", "train"),
        ("0037511", "707-320", "Boeing 707", "Boeing", "val"),
        ("0041222", "A300B4", "A300", "Airbus", "val"),
        ("0062765", "727-200", "Boeing 727", "Boeing", "test"),
        ("0063275", "A300B4", "A300", "Airbus", "test"),
        ("0063998", "727-200", "Boeing 727", "Boeing", "train"),
    ]
    truth = {f"data/images/{i}.jpg": of(v, f, m, split=s) for i, v, f, m, s in rows}
    top = "fgvc-aircraft-2013b/"
    files = images(top + path for path in truth)
    for split in ("train", "val", "test"):
        these = [row for row in rows if row[4] == split]
        files[f"{top}data/images_{split}.txt"] = lines(row[0] for row in these)
        for place, kind in enumerate(("variant", "family", "manufacturer"), 1):
            files[f"{top}data/images_{kind}_{split}.txt"] = lines(
                f"{row[0]} {row[place]}" for row in these
            )
    for split in ("variant", "family", "manufacturer"):
        both = str(files[f"{top}data/images_{split}_train.txt"])
        files[f"{top}data/images_{split}_trainval.txt"] = both + str(
            files[f"{top}data/images_{split}_val.txt"]
        )
    files[top + "data/images_box.txt"] = lines(f"{row[0]} 2 3 20 21" for row in rows)
    for name, place in (("variants", 1), ("families", 2), ("manufacturers", 3)):
        files[f"{top}data/{name}.txt"] = lines(sorted({row[place] for row in rows}))
    files[top + "README.md"] = "# FGVC-Aircraft\n"
    files[top + "evaluation.m"] = "% evaluate\n"
    return Layout("FGVC-Aircraft", _TV + "FGVCAircraft", files, truth, "fgvc-aircraft-2013b")


def _flowers() -> Layout:
    truth = {
        f"jpg/image_0000{n}.jpg": of(str(1 + n % 2), split=("train", "val", "test")[n % 3])
        for n in range(1, 9)
    }
    files = images(f"flowers-102/{path}" for path in truth)
    files["flowers-102/imagelabels.mat"] = mat(labels=[1 + n % 2 for n in range(1, 9)])
    files["flowers-102/setid.mat"] = mat(trnid=[3, 6], valid=[1, 4, 7], tstid=[2, 5, 8])
    return Layout("Oxford Flowers 102", _TV + "Flowers102", files, truth, "flowers-102")


def _flowers_tgz() -> Layout:
    row = _flowers()
    inside = images(row.truth)
    files = dict(row.files)
    files = {path: text for path, text in files.items() if path.endswith(".mat")}
    files["flowers-102/102flowers.tgz"] = tar(inside, "gz")
    truth = {f"102flowers.tgz/{path}": fact for path, fact in row.truth.items()}
    return Layout(
        "Oxford Flowers 102, 102flowers.tgz beside its .mat",
        row.source,
        files,
        truth,
        "flowers-102",
    )


def _pets(maps: bool) -> Layout:
    rows = [
        ("Abyssinian_1", 1, 1, "trainval"),
        ("Abyssinian_2", 1, 1, "trainval"),
        ("Abyssinian_3", 1, 1, "test"),
        ("american_bulldog_1", 2, 2, "trainval"),
        ("american_bulldog_2", 2, 2, "trainval"),
        ("american_bulldog_3", 2, 2, "test"),
    ]
    truth, heads = {}, ("Abyssinian_1", "american_bulldog_2")  # some have the box of the head
    for name, number, _, split in rows:
        masks = (f"annotations/trimaps/{name}.png",) if maps else ()
        masks += (f"annotations/xmls/{name}.xml",) if maps and name in heads else ()
        breed = name.rsplit("_", 1)[0]
        species = "Cat" if number == 1 else "Dog"
        spoken = breed.replace("_", " ").title()
        truth[f"images/{name}.jpg"] = of(
            breed, spoken, str(number), species, split=split, files=masks
        )
    files = images(f"oxford-iiit-pet/{path}" for path in truth)
    listed = [f"{name} {number} {species} 1" for name, number, species, _ in rows]
    head = ["#Image CLASS-ID SPECIES BREED ID", "#ID: 1:37 Class ids", "#SPECIES: 1:Cat 2:Dog"]
    top = "oxford-iiit-pet/annotations/"
    files[top + "list.txt"] = lines(head + listed)
    for split in ("trainval", "test"):
        files[f"{top}{split}.txt"] = lines(
            line for line, row in zip(listed, rows, strict=True) if row[3] == split
        )
    files[top + "README"] = "trimaps: 1: Foreground 2:Background 3: Not classified\n"
    if maps:
        files |= images(f"{top}trimaps/{row[0]}.png" for row in rows)
        head = "<object><name>cat</name><bndbox><xmin>1</xmin></bndbox></object>"
        files |= {f"{top}xmls/{name}.xml": f"<annotation>{head}</annotation>" for name in heads}
        files |= {f"{top}trimaps/._{row[0]}.png": b"\0\5\x16\7\0\2\0\0" for row in rows[:2]}
    return Layout(
        "Oxford-IIIT Pet" + (" with trimaps" if maps else " with its lists only"),
        _TV + "OxfordIIITPet",
        files,
        truth,
        "oxford-iiit-pet",
    )


def _food() -> Layout:
    classes = {
        "apple_pie": ["1005649", "1011328", "1014775", "1026328"],
        "baby_back_ribs": ["1005293", "1007102", "1010550", "1010551"],
    }
    truth: dict[str, Truth] = {}
    listed: dict[str, dict[str, list[str]]] = {"train": {}, "test": {}}
    for name, numbers in classes.items():
        for n, number in enumerate(numbers):
            split = "train" if n < 3 else "test"
            spoken = name.replace("_", " ").capitalize()
            truth[f"images/{name}/{number}.jpg"] = of(name, spoken, split=split)
            listed[split].setdefault(name, []).append(f"{name}/{number}")
    files = images(f"food-101/{path}" for path in truth)
    for split, by_class in listed.items():
        files[f"food-101/meta/{split}.json"] = json.dumps(by_class)
        files[f"food-101/meta/{split}.txt"] = lines(
            name for names in by_class.values() for name in names
        )
    files["food-101/meta/classes.txt"] = lines(classes)
    files["food-101/meta/labels.txt"] = lines(["Apple pie", "Baby back ribs"])
    files["food-101/README.txt"] = "Food-101\n"
    files["food-101/license_agreement.txt"] = "Use as you may.\n"
    return Layout("Food-101", _TV + "Food101", files, truth, "food-101")


def _inaturalist_json() -> Layout:
    truth: dict[str, Truth] = {}
    files: dict[str, str | bytes] = {}
    categories = [
        {"id": 0, "name": "Acris crepitans", "supercategory": "Amphibia"},
        {"id": 1, "name": "Acris gryllus", "supercategory": "Amphibia"},
        {"id": 2, "name": "Quercus alba", "supercategory": "Plantae"},
    ]
    number = 0
    for split, each in (("train", 3), ("val", 1)):
        entries, annotations = [], []
        for category in categories:
            for _ in range(each):
                number += 1
                path = (
                    f"train_val2018/{category['supercategory']}/{category['id']}/{number:08x}.jpg"
                )
                truth[path] = of(str(category["name"]), str(category["id"]), split=split)
                entries.append(
                    {"id": number, "file_name": path, "width": 24, "height": 24, "license": 0}
                )
                annotations.append(
                    {"id": number, "image_id": number, "category_id": category["id"]}
                )
        files[f"inat/{split}2018.json"] = json.dumps(
            {
                "info": {"year": 2018},
                "images": entries,
                "categories": categories,
                "annotations": annotations,
                "licenses": [],
            }
        )
    files |= images(f"inat/{path}" for path in truth)
    return Layout(
        "iNaturalist 2018 with its JSON",
        "https://github.com/visipedia/inat_comp/tree/master/2018",
        files,
        truth,
        "inat",
    )


def _inaturalist_2021() -> Layout:
    folders = (
        "00000_Animalia_Annelida_Clitellata_Haplotaxida_Lumbricidae_Lumbricus_terrestris",
        "00001_Animalia_Arthropoda_Arachnida_Araneae_Araneidae_Araneus_diadematus",
    )
    truth = {
        f"{split}/{folder}/{split[0]}{n}-8a.jpg": of(folder, split=split[:5])
        for split in ("train_mini", "val")
        for folder in folders
        for n in range(3)
    }
    truth = {
        path: fact._replace(split=path.split("/")[0].removesuffix("_mini"))
        for path, fact in truth.items()
    }
    return Layout(
        "iNaturalist 2021 mini, folders only",
        _TV + "INaturalist, version 2021_train_mini",
        images(f"inat/{path}" for path in truth),
        truth,
        "inat",
    )


# Scenes


def _places() -> Layout:
    truth: dict[str, Truth] = {}
    listed = []
    kinds = ("/a/airfield", "/a/apartment_building/outdoor", "/b/beach")
    for number, kind in enumerate(kinds):
        for n in range(1, 4):
            path = f"data_256_standard{kind}/0000000{n}.jpg"
            truth[path] = of(kind, kind[1:], kind[3:], str(number), split="train")
            listed.append(f"{kind}/0000000{n}.jpg {number}")
    val = []
    for n in range(1, 4):
        name = f"Places365_val_0000000{n}.jpg"
        kind = kinds[3 - n]
        truth[f"val_256/{name}"] = of(kind, kind[1:], kind[3:], str(3 - n), split="val")
        val.append(f"{name} {3 - n}")
    files = images(f"places365/{path}" for path in truth)
    files["places365/places365_train_standard.txt"] = lines(listed)
    files["places365/places365_val.txt"] = lines(val)
    files["places365/categories_places365.txt"] = lines(f"{k} {n}" for n, k in enumerate(kinds))
    return Layout(
        "Places365, as torchvision unpacks it", _TV + "Places365", files, truth, "places365"
    )


def _places_easy() -> Layout:
    truth = {
        f"{split}/{kind}/{n}.jpg": of(kind, split=split)
        for split in ("train", "val")
        for kind in ("airfield", "beach", "train_interior")
        for n in range(3)
    }
    files = images(f"places365_standard/{path}" for path in truth)
    for split in ("train", "val"):
        files[f"places365_standard/{split}.txt"] = lines(p for p in truth if p.startswith(split))
    return Layout(
        "Places365, easy directory structure",
        "http://places2.csail.mit.edu/download-private.html",
        files,
        truth,
        "places365_standard",
    )


def _sun397(listed: bool) -> Layout:
    kinds = ("/a/abbey", "/a/apartment_building/outdoor", "/b/beach")
    truth: dict[str, Truth] = {}
    training, testing = [], []
    for kind in kinds:
        for n in range(4):
            path = f"{kind}/sun_a{n}{kind[-3:]}.jpg"
            split = ("train" if n < 2 else "test") if listed else ""
            truth[path[1:]] = of(kind, kind[1:], kind[3:], kind[3:].replace("/", "_"), split=split)
            (training if n < 2 else testing).append(path)
    files = images(f"SUN397/{path}" for path in truth)
    files["SUN397/ClassName.txt"] = lines(kinds)
    if listed:
        files["SUN397/Training_01.txt"] = lines(training)
        files["SUN397/Testing_01.txt"] = lines(testing)
        files["SUN397/README.txt"] = "Partitions of SUN397\n"
    return Layout(
        "SUN397" + (" with its partitions" if listed else ""),
        _TV + "SUN397" if not listed else "https://vision.princeton.edu/projects/2010/SUN/",
        files,
        truth,
        "SUN397",
    )


def _indoor() -> Layout:
    classes = {
        "airport_inside": ["airport_inside_0001.jpg", "airport_inside_0002.jpg", "a3.jpg"],
        "gameroom": ["bt_132294gameroom2.jpg", "bt_2.jpg", "bt_3.jpg"],
    }
    truth = {
        f"Images/{folder}/{name}": of(folder, split="test" if n == 2 else "train")
        for folder, names in classes.items()
        for n, name in enumerate(names)
    }
    files = images(f"indoor/{path}" for path in truth)
    for split, name in (("train", "TrainImages.txt"), ("test", "TestImages.txt")):
        files[f"indoor/{name}"] = lines(
            path.removeprefix("Images/") for path, fact in truth.items() if fact.split == split
        ).rstrip("\n")
    return Layout(
        "MIT Indoor 67 with TrainImages.txt",
        "https://web.mit.edu/torralba/www/indoor.html",
        files,
        truth,
        "indoor",
    )


def _dtd() -> Layout:
    classes = ("banded", "blotchy")
    truth = {}
    listed: dict[str, list[str]] = {"train": [], "val": [], "test": []}
    other: dict[str, list[str]] = {"train": [], "val": [], "test": []}
    for name in classes:
        for n in range(6):
            split = ("train", "val", "test")[n % 3]
            truth[f"images/{name}/{name}_000{n}.jpg"] = of(name, split=split)  # of the first
            listed[split].append(f"{name}/{name}_000{n}.jpg")
            other[("val", "test", "train")[n % 3]].append(f"{name}/{name}_000{n}.jpg")
    files = images(f"dtd/{path}" for path in truth)
    for split in listed:
        files[f"dtd/labels/{split}1.txt"] = lines(listed[split])
        files[f"dtd/labels/{split}2.txt"] = lines(other[split])
    files["dtd/labels/labels_joint_anno.txt"] = lines(
        f"{name}/{name}_000{n}.jpg {name} {'dotted' if n == 2 else ''}".rstrip()
        for name in classes
        for n in range(6)
    )
    files["dtd/imdb/imdb.mat"] = mat(images=[1, 2])
    return Layout("DTD with ten partitions of the same images", _TV + "DTD", files, truth, "dtd")


# From the air


def _ucmerced() -> Layout:
    truth: dict[str, Truth] = {}
    listed: dict[str, list[str]] = {"train": [], "val": [], "test": []}
    for name in ("agricultural", "airplane"):
        for n in range(6):
            split = ("train", "val", "test")[n % 3]
            truth[f"UCMerced_LandUse/Images/{name}/{name}0{n}.tif"] = of(name, split=split)
            listed[split].append(f"{name}0{n}.tif")
    files = images(f"ucmerced/{path}" for path in truth)
    files |= {f"ucmerced/uc_merced-{split}.txt": lines(n) for split, n in listed.items()}
    files["ucmerced/UCMerced_LandUse/readme.txt"] = "UC Merced Land Use\n"
    return Layout(
        "UC Merced with torchgeo's lists", "torchgeo.datasets.UCMerced", files, truth, "ucmerced"
    )


def _eurosat_kaggle() -> Layout:
    kinds = ("AnnualCrop", "Forest")
    truth: dict[str, Truth] = {}
    tables: dict[str, list[str]] = {}
    for split in ("train", "validation", "test"):
        rows = [",Filename,Label,ClassName"]
        for c, kind in enumerate(kinds):
            for n in range(2):
                number = 10 * ("train", "validation", "test").index(split) + n
                path = f"{kind}/{kind}_{number}.jpg"
                truth[f"EuroSAT/{path}"] = of(kind, str(c), split=split)
                rows.append(f"{len(rows) - 1},{path},{c},{kind}")
        tables[split] = rows
    files = images(f"eurosat/{path}" for path in truth)
    files |= {f"eurosat/EuroSAT/{split}.csv": lines(rows) for split, rows in tables.items()}
    files["eurosat/EuroSAT/label_map.json"] = json.dumps({k: n for n, k in enumerate(kinds)})
    return Layout(
        "EuroSAT as Kaggle has it, with tables of splits",
        "https://www.kaggle.com/datasets/apollo2506/eurosat-dataset",
        files,
        truth,
        "eurosat",
    )


def _eurosat_zip() -> Layout:
    truth = _folders(
        {k: [f"{k}_{n}.jpg" for n in range(1, 5)] for k in ("AnnualCrop", "Forest", "River")},
        "2750/",
    )
    return Layout(
        "EuroSAT, its zip",
        _TV + "EuroSAT",
        {"EuroSAT.zip": zipped(images(truth))},
        truth,
        "EuroSAT.zip",
    )


def _resisc() -> Layout:
    truth: dict[str, Truth] = {}
    listed: dict[str, list[str]] = {"train": [], "val": [], "test": []}
    for name in ("airplane", "train_station"):
        for n in range(1, 7):
            split = ("train", "val", "test")[n % 3]
            truth[f"NWPU-RESISC45/{name}/{name}_00{n}.jpg"] = of(name, split=split)
            listed[split].append(f"{name}_00{n}.jpg")
    files = images(f"resisc45/{path}" for path in truth)
    files |= {f"resisc45/resisc45-{split}.txt": lines(n) for split, n in listed.items()}
    return Layout(
        "RESISC45 with torchgeo's lists", "torchgeo.datasets.RESISC45", files, truth, "resisc45"
    )


# Objects and domains


def _caltech101() -> Layout:
    truth = {
        f"101_ObjectCategories/{name}/image_000{n}.jpg": of(name)
        for name in ("accordion", "airplanes", "BACKGROUND_Google")
        for n in range(1, 4)
    }
    files = images(f"caltech101/{path}" for path in truth)
    for name in ("accordion", "Airplanes_Side_2"):
        for n in range(1, 4):
            files[f"caltech101/Annotations/{name}/annotation_000{n}.mat"] = mat(
                box_coord=[[2, 20, 3, 21]]
            )
    files["caltech101/show_annotation.m"] = "function show_annotation\n"
    return Layout("Caltech-101 with Annotations", _TV + "Caltech101", files, truth, "caltech101")


def _caltech256() -> Layout:
    truth = {
        f"256_ObjectCategories/{name}/{name[:3]}_000{n}.jpg": of(name, name[4:])
        for name in ("001.ak47", "002.american-flag", "257.clutter")
        for n in range(1, 4)
    }
    return Layout(
        "Caltech-256, its tar",
        _TV + "Caltech256",
        {"256_ObjectCategories.tar": tar(images(truth))},
        truth,
        "256_ObjectCategories.tar",
    )


def _domainnet() -> Layout:
    truth: dict[str, Truth] = {}
    files: dict[str, str | bytes] = {}
    for d, domain in enumerate(("clipart", "real", "sketch")):
        listed: dict[str, list[str]] = {"train": [], "test": []}
        for c, name in enumerate(("aircraft_carrier", "airplane")):
            for n in range(1, 4):
                path = f"{domain}/{name}/{domain}_00{c + 1}_00000{n}.jpg"
                split = "test" if n == 1 + d else "train"
                truth[path] = of(name, str(c), split=split)
                listed[split].append(f"{path} {c}")
        for split, rows in listed.items():
            files[f"domainnet/{domain}_{split}.txt"] = lines(rows)
    files |= images(f"domainnet/{path}" for path in truth)
    return Layout(
        "DomainNet with {domain}_train.txt", "http://ai.bu.edu/M3SDA/", files, truth, "domainnet"
    )


def _domainnet_one() -> Layout:
    row = _domainnet()
    files = {p: t for p, t in row.files.items() if p.startswith("domainnet/clipart")}
    truth = {p: t for p, t in row.truth.items() if p.startswith("clipart/")}
    return Layout("DomainNet, one domain with its lists", row.source, files, truth, "domainnet")


def _pacs() -> Layout:
    truth: dict[str, Truth] = {}
    files: dict[str, str | bytes] = {}
    for domain in ("art_painting", "photo"):
        listed: dict[str, list[str]] = {"train": [], "crossval": [], "test": []}
        for c, name in enumerate(("dog", "elephant"), 1):
            for n in range(1, 5):
                path = f"{domain}/{name}/pic_00{n}.jpg"
                split = "crossval" if n == 4 else "train"
                truth[f"images/{path}"] = of(name, split="val" if split == "crossval" else "train")
                listed[split].append(f"{path} {c}")
                listed["test"].append(f"{path} {c}")
        for split, rows in listed.items():
            files[f"pacs/splits/{domain}_{split}_kfold.txt"] = lines(rows)
    files |= images(f"pacs/{path}" for path in truth)
    return Layout(
        "PACS with its kfold splits",
        "Dassl.pytorch, DATASETS.md; https://domaingeneralization.github.io",
        files,
        truth,
        "pacs",
    )


def _office_home() -> Layout:
    truth: dict[str, Truth] = {}
    table = ["#,Domain,Class,URL"]
    for domain in ("Art", "Clipart", "Real World"):
        for name in ("Alarm_Clock", "Backpack"):
            for n in range(1, 3):
                truth[f"{domain}/{name}/0000{n}.jpg"] = of(name)
                table.append(f"{len(table)},{domain},{name},http://example.org/{len(table)}.jpg")
    top = "OfficeHomeDataset_10072016/"
    files = images(top + path for path in truth)
    files[top + "ImageInfo.csv"] = lines(table)
    return Layout(
        "Office-Home",
        "https://www.hemanthdv.org/officeHomeDataset.html",
        files,
        truth,
        "OfficeHomeDataset_10072016",
    )


def _visda() -> Layout:
    names = ("aeroplane", "bicycle", "train")
    truth: dict[str, Truth] = {}
    files: dict[str, str | bytes] = {}
    for split in ("train", "validation"):
        listed = []
        for c, name in enumerate(names):
            for n in range(2):
                path = f"{name}/src_{n}_{split}_{c}.png"
                truth[f"{split}/{path}"] = of(name, split=split)
                listed.append(f"{path} {c}")
        files[f"visda/{split}/image_list.txt"] = lines(listed)
    listed = []
    for n in range(6):
        path = f"trunc0{n % 2}/0d{n}.jpg"
        truth[f"test/{path}"] = of(names[n % 3], str(n % 3), split="test")
        listed.append(f"{path} {n % 3}")
    files["visda/test/image_list.txt"] = lines(listed)
    files |= images(f"visda/{path}" for path in truth)
    return Layout(
        "VisDA-2017 with image_list.txt",
        "https://github.com/VisionLearningGroup/taskcv-2017-public/tree/master/classification",
        files,
        truth,
        "visda",
    )


def _visda_test() -> Layout:
    row = _visda()
    truth = {
        p.removeprefix("test/"): fact._replace(split="")
        for p, fact in row.truth.items()
        if p.startswith("test/")
    }
    return Layout("VisDA-2017, its test folder", row.source, row.files, truth, "visda/test")


def _visda_tar() -> Layout:
    row = _visda()
    truth = {path: fact for path, fact in row.truth.items() if path.startswith("test/")}
    inside = {path: row.files[f"visda/{path}"] for path in (*truth, "test/image_list.txt")}
    return Layout(
        "VisDA-2017, its test tar", row.source, {"test.tar": tar(inside)}, truth, "test.tar"
    )


# Signs and animals


def _gtsrb() -> Layout:
    truth: dict[str, Truth] = {}
    files: dict[str, str | bytes] = {}
    head = "Filename;Width;Height;Roi.X1;Roi.Y1;Roi.X2;Roi.Y2;ClassId"
    for c in range(2):
        rows = [head]
        for n in range(3):
            name = f"00000_0000{n}.ppm"
            truth[f"Final_Training/Images/0000{c}/{name}"] = of(f"0000{c}", str(c), split="train")
            rows.append(f"{name};24;24;2;3;20;21;{c}")
        files[f"GTSRB/Final_Training/Images/0000{c}/GT-0000{c}.csv"] = lines(rows, "\r\n")
    rows = [head]
    for n in range(4):
        truth[f"Final_Test/Images/0000{n}.ppm"] = of(f"0000{n % 2}", str(n % 2), split="test")
        rows.append(f"0000{n}.ppm;24;24;2;3;20;21;{n % 2}")
    files["GTSRB/Final_Test/Images/GT-final_test.csv"] = lines(rows, "\r\n")
    files |= images(f"GTSRB/{path}" for path in truth)
    files["GTSRB/Readme-Images.txt"] = "Annotations are provided in CSV files.\n"
    return Layout("GTSRB with its CSV files of semicolons", _TV + "GTSRB", files, truth, "GTSRB")


def _gtsrb_training() -> Layout:
    row = _gtsrb()
    top = "Final_Training/Images/"
    truth = {
        p.removeprefix(top): fact._replace(split="")
        for p, fact in row.truth.items()
        if p.startswith(top)
    }
    return Layout(
        "GTSRB, training images", row.source, row.files, truth, "GTSRB/Final_Training/Images"
    )


def _gtsrb_kaggle() -> Layout:
    head = "Width,Height,Roi.X1,Roi.Y1,Roi.X2,Roi.Y2,ClassId,Path"
    truth: dict[str, Truth] = {}
    tables: dict[str, list[str]] = {"Train": [head], "Test": [head]}
    for c in (0, 20):
        for n in range(3):
            path = f"Train/{c}/{c:05}_00000_0000{n}.png"
            truth[path] = of(str(c), split="train")
            tables["Train"].append(f"24,24,2,3,20,21,{c},{path}")
    for n in range(4):
        truth[f"Test/0000{n}.png"] = of("20" if n % 2 else "0", split="test")
        tables["Test"].append(f"24,24,2,3,20,21,{20 * (n % 2)},Test/0000{n}.png")
    files = images(f"gtsrb/{path}" for path in truth)
    files |= {f"gtsrb/{name}.csv": lines(rows) for name, rows in tables.items()}
    files["gtsrb/Meta.csv"] = (
        "Path,ClassId,ShapeId,ColorId,SignId\nMeta/0.png,0,1,0,3.29\nMeta/20.png,20,0,0,1.1\n"
    )
    files |= images(["gtsrb/Meta/0.png", "gtsrb/Meta/20.png"])
    return Layout(
        "GTSRB as Kaggle has it, with a picture for each class in Meta",
        "https://www.kaggle.com/datasets/meowmeowmeowmeowmeow/gtsrb-german-traffic-sign",
        files,
        truth,
        "gtsrb",
    )


def _awa2() -> Layout:
    names = ("antelope", "grizzly+bear", "killer+whale")
    truth = {f"JPEGImages/{a}/{a}_1000{n}.jpg": of(a) for a in names for n in range(1, 4)}
    top = "Animals_with_Attributes2/"
    files = images(top + path for path in truth)
    files[top + "classes.txt"] = lines(f"      {n}\t{a}" for n, a in enumerate(names, 1))
    files[top + "trainclasses.txt"] = lines(names[:2])
    files[top + "testclasses.txt"] = lines(names[2:])
    files[top + "predicates.txt"] = "      1\tblack\n      2\twhite\n"
    files[top + "predicate-matrix-binary.txt"] = "0 1\n1 0\n1 1\n"
    files[top + "README-attributes.txt"] = "Attributes of 50 classes\n"
    return Layout(
        "Animals with Attributes 2",
        "https://cvml.ista.ac.at/AwA2/",
        files,
        truth,
        "Animals_with_Attributes2",
    )


# Frames of videos


def _ucf_frames() -> Layout:
    truth: dict[str, Truth] = {}
    training, testing = [], []
    for c, name in enumerate(("ApplyEyeMakeup", "Archery")):
        for g in (1, 8):
            video = f"{name}/v_{name}_g0{g}_c01"
            split = "test" if g == 1 else "train"
            for n in range(1, 4):
                truth[f"rawframes/{video}/img_0000{n}.jpg"] = of(name, split=split)
            (testing if g == 1 else training).append((video, c))
    files = images(f"ucf101/{path}" for path in truth)
    top = "ucf101/"
    files[top + "ucf101_train_split_1_rawframes.txt"] = lines(f"{v} 3 {c}" for v, c in training)
    files[top + "ucf101_val_split_1_rawframes.txt"] = lines(f"{v} 3 {c}" for v, c in testing)
    files[top + "annotations/classInd.txt"] = "1 ApplyEyeMakeup\n2 Archery\n"
    files[top + "annotations/trainlist01.txt"] = lines(f"{v}.avi {c + 1}" for v, c in training)
    files[top + "annotations/testlist01.txt"] = lines(f"{v}.avi" for v, _ in testing)
    return Layout(
        "UCF101 in frames, with the lists of its videos",
        "mmaction2, tools/data/ucf101/README.md",
        files,
        truth,
        "ucf101",
    )


def _hmdb_frames() -> Layout:
    truth: dict[str, Truth] = {}
    files: dict[str, str | bytes] = {}
    for name in ("brush_hair", "cartwheel"):
        listed = []
        for v, mark in enumerate((1, 2)):
            video = f"video_{v}_{name}_h_nm_np1"
            for n in range(1, 4):
                truth[f"frames/{name}/{video}/000{n}.jpg"] = of(
                    name, split="train" if mark == 1 else "test"
                )
            listed.append(f"{video}.avi {mark} ")
        files[f"hmdb51/testTrainMulti_7030_splits/{name}_test_split1.txt"] = lines(listed)
    files |= images(f"hmdb51/{path}" for path in truth)
    return Layout(
        "HMDB51 in frames, with the lists of its videos",
        _TV + "HMDB51; https://serre-lab.clps.brown.edu/resource/hmdb",
        files,
        truth,
        "hmdb51",
    )


def _copied(name: str, source: str, classes: dict[str, list[str]], twice: str, src: str) -> Layout:
    """Return class folders that lie a second time in the folder `twice`, byte for byte."""
    truth = _folders(classes)
    files: dict[str, str | bytes] = {}
    for path in truth:
        data = picture(path)
        files[f"{src}/{path}"] = files[f"{src}/{twice}/{path}"] = data
    return Layout(name, source, files, truth, src)


_SEEDS = {"no": ["1 no.jpg", "2 no.jpg", "3 no.jpg"], "yes": ["Y1.jpg", "Y2.jpg", "Y3.jpg"]}

LAYOUTS = named(
    "classification",
    [
        _imagenet_tars(),
        _imagenet_openmmlab(),
        _imagenet_caffe(),
        _imagenet_kaggle(),
        _imagenet_c(),
        _imagenet_r(),
        archived(_imagenet_r(), "imagenet-r.tar", "ImageNet-R, its tar"),
        _imagenet_a(),
        _imagenet_sketch(),
        _tiny_imagenet(),
        archived(_tiny_imagenet(), "tiny-imagenet-200.zip", "Tiny ImageNet, its zip"),
        _cub(),
        _cub_inner(),
        archived(_cub_inner(), "CUB_200_2011.tgz", "CUB-200-2011, its tgz"),
        _cars_devkit(),
        _cars_texts(),
        _cars_kaggle(),
        _aircraft(),
        archived(_aircraft(), "fgvc-aircraft-2013b.tar.gz", "FGVC-Aircraft, its tar"),
        _flowers(),
        _flowers_tgz(),
        _pets(False),
        _pets(True),
        _food(),
        archived(_food(), "food-101.tar.gz", "Food-101, its tar"),
        _inaturalist_json(),
        _inaturalist_2021(),
        _places(),
        _places_easy(),
        archived(_places_easy(), "places365standard_easyformat.tar", "Places365, easy, its tar"),
        _sun397(False),
        _sun397(True),
        archived(_sun397(False), "SUN397.tar.gz", "SUN397, its tar"),
        _indoor(),
        _dtd(),
        archived(_dtd(), "dtd-r1.0.1.tar.gz", "DTD, its tar"),
        _ucmerced(),
        _eurosat_kaggle(),
        _eurosat_zip(),
        _resisc(),
        _caltech101(),
        _caltech256(),
        _domainnet(),
        _domainnet_one(),
        _pacs(),
        _office_home(),
        _visda(),
        _visda_test(),
        _visda_tar(),
        _gtsrb(),
        _gtsrb_training(),
        _gtsrb_kaggle(),
        _awa2(),
        _ucf_frames(),
        _hmdb_frames(),
        _copied(
            "Malaria cells, with the nested copy of Kaggle's zip",
            "https://www.kaggle.com/datasets/iarunava/cell-images-for-detecting-malaria",
            {k: [f"C{n}P61_{k[0]}.png" for n in range(3)] for k in ("Parasitized", "Uninfected")},
            "cell_images",
            "cell_images",
        ),
        _copied(
            "Brain MRI, with the nested copy of Kaggle's zip",
            "https://www.kaggle.com/datasets/navoneel/brain-mri-images-for-brain-tumor-detection",
            _SEEDS,
            "brain_tumor_dataset",
            "archive",
        ),
        _copied(
            "Rock, paper, scissors, with the nested copy of Kaggle's zip",
            "https://www.kaggle.com/datasets/drgfreeman/rockpaperscissors",
            {k: [f"{k[0]}{n}.png" for n in range(3)] for k in ("paper", "rock", "scissors")},
            "rps-cv-images",
            "rockpaperscissors",
        ),
    ],
)

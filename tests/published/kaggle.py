"""Competitions and datasets of Kaggle, as their pages describe the files."""

import json

from published.making import images, lines, named, of, xlsx
from published.row import Layout, Truth

_C = "https://www.kaggle.com/c/"
_D = "https://www.kaggle.com/datasets/"


def _dogs_vs_cats() -> Layout:
    truth = {f"train/{k}.{n}.jpg": of(k, split="train") for k in ("cat", "dog") for n in range(4)}
    truth |= {f"test1/{n}.jpg": of(split="test") for n in range(1, 5)}
    files = images(f"dogs-vs-cats/{path}" for path in truth)
    files["dogs-vs-cats/sampleSubmission.csv"] = lines(
        ["id,label"] + [f"{n},0" for n in range(1, 5)]
    )
    return Layout("Dogs vs. Cats", _C + "dogs-vs-cats/data", files, truth, "dogs-vs-cats")


def _dogs_vs_cats_train() -> Layout:
    truth = {f"{k}.{n}.jpg": of(k) for k in ("cat", "dog") for n in range(4)}
    return Layout(
        "Dogs vs. Cats, its train folder",
        _C + "dogs-vs-cats/data",
        images(f"train/{path}" for path in truth),
        truth,
        "train",
    )


def _plant_2020() -> Layout:
    names = ("healthy", "multiple_diseases", "rust", "scab")
    marks = (3, 1, 0, 2, 0, 3)
    truth = {
        f"images/Train_{n}.jpg": of(names[mark], split="train") for n, mark in enumerate(marks)
    }
    truth |= {f"images/Test_{n}.jpg": of(split="test") for n in range(4)}
    files = images(f"plant/{path}" for path in truth)
    files["plant/train.csv"] = lines(
        ["image_id," + ",".join(names)]
        + [
            f"Train_{n}," + ",".join(str(int(mark == k)) for k in range(4))
            for n, mark in enumerate(marks)
        ]
    )
    files["plant/test.csv"] = lines(["image_id"] + [f"Test_{n}" for n in range(4)])
    files["plant/sample_submission.csv"] = lines(
        ["image_id," + ",".join(names)] + [f"Test_{n},0.25,0.25,0.25,0.25" for n in range(4)]
    )
    return Layout(
        "Plant Pathology 2020, a column for each class",
        _C + "plant-pathology-2020-fgvc7/data",
        files,
        truth,
        "plant",
    )


def _plant_2021() -> Layout:
    rows = [
        ("800113bb65efe69e.jpg", "healthy"),
        ("8002cb321f8bfcdf.jpg", "scab frog_eye_leaf_spot complex"),
        ("80070f7fb5e2ccaa.jpg", "scab"),
        ("80077517781fb94f.jpg", "scab"),
        ("800cbf0ff87721f8.jpg", "complex"),
        ("800edef467d27c15.jpg", "healthy"),
        ("800f85dc5f407aef.jpg", "rust frog_eye_leaf_spot"),
    ]
    truth = {f"train_images/{name}": of(labels=text.split(), split="train") for name, text in rows}
    truth["test_images/85f8cb619c66b863.jpg"] = of(split="test")
    truth["test_images/ad8770db05586b59.jpg"] = of(split="test")
    files = images(f"plant/{path}" for path in truth)
    files["plant/train.csv"] = lines(["image,labels"] + [f"{a},{b}" for a, b in rows])
    files["plant/sample_submission.csv"] = lines(
        ["image,labels", "85f8cb619c66b863.jpg,healthy", "ad8770db05586b59.jpg,healthy"]
    )
    return Layout(
        "Plant Pathology 2021, several labels in one text",
        _C + "plant-pathology-2021-fgvc8/data",
        files,
        truth,
        "plant",
    )


def _hpa() -> Layout:
    rows = [
        ("00070df0-bbc3-11e8-b2bc-ac1f6b6435d0", "16 0"),
        ("000a6c98-bb9b-11e8-b2b9-ac1f6b6435d0", "7 1 2 0"),
        ("000a9596-bbc4-11e8-b2bc-ac1f6b6435d0", "5"),
        ("000c99ba-bba4-11e8-b2b9-ac1f6b6435d0", "1"),
    ]
    colours = ("red", "green", "blue", "yellow")
    truth: dict[str, Truth] = {}
    for name, text in rows:
        for colour in colours:
            truth[f"train/{name}_{colour}.png"] = of(labels=text.split(), split="train")
    for colour in colours:
        truth[f"test/00008af0-bad0-11e8-b2b8-ac1f6b6435d0_{colour}.png"] = of(split="test")
    files = images(f"hpa/{path}" for path in truth)
    files["hpa/train.csv"] = lines(["Id,Target"] + [f"{a},{b}" for a, b in rows])
    files["hpa/sample_submission.csv"] = lines(
        ["Id,Predicted", "00008af0-bad0-11e8-b2b8-ac1f6b6435d0,0"]
    )
    return Layout(
        "Human Protein Atlas, four pictures for each row",
        _C + "human-protein-atlas-image-classification/data",
        files,
        truth,
        "hpa",
    )


def _histopathology() -> Layout:
    ids = [f"{n:x}38a6374c348f90b587e046aac6079959adf383{n}" for n in range(1, 7)]
    truth = {f"train/{i}.tif": of(str(n % 2), split="train") for n, i in enumerate(ids)}
    tests = [f"{n:x}b2ea2a822ad23fdb1b5dd26653da899fbd2c0d{n}" for n in range(1, 4)]
    truth |= {f"test/{i}.tif": of(split="test") for i in tests}
    files = images(f"histo/{path}" for path in truth)
    files["histo/train_labels.csv"] = lines(
        ["id,label"] + [f"{i},{n % 2}" for n, i in enumerate(ids)]
    )
    files["histo/sample_submission.csv"] = lines(["id,label"] + [f"{i},0" for i in tests])
    return Layout(
        "Histopathologic Cancer Detection",
        _C + "histopathologic-cancer-detection/data",
        files,
        truth,
        "histo",
    )


def _planet() -> Layout:
    tags = [
        "haze primary",
        "agriculture clear primary water",
        "clear primary",
        "clear primary",
        "agriculture clear habitation primary road",
        "haze primary water",
    ]
    truth = {
        f"train-jpg/train_{n}.jpg": of(labels=text.split(), split="train")
        for n, text in enumerate(tags)
    }
    truth |= {f"test-jpg-v2/test_{n}.jpg": of(split="test") for n in range(3)}
    files = images(f"planet/{path}" for path in truth)
    files["planet/train_v2.csv"] = lines(
        ["image_name,tags"] + [f"train_{n},{text}" for n, text in enumerate(tags)]
    )
    files["planet/sample_submission_v2.csv"] = lines(
        ["image_name,tags"] + [f"test_{n},primary clear" for n in range(3)]
    )
    return Layout(
        "Planet, tags with spaces between",
        _C + "planet-understanding-the-amazon-from-space/data",
        files,
        truth,
        "planet",
    )


def _cassava() -> Layout:
    names = {"0": "Cassava Bacterial Blight (CBB)", "3": "Cassava Mosaic Disease (CMD)"}
    rows = [("1000015157", "0"), ("1000201771", "3"), ("100042118", "0"), ("1000723321", "3")]
    truth = {
        f"train_images/{name}.jpg": of(label, names[label], split="train") for name, label in rows
    }
    truth["test_images/2216849948.jpg"] = of(split="test")
    files = images(f"cassava/{path}" for path in truth)
    files["cassava/train.csv"] = lines(["image_id,label"] + [f"{a}.jpg,{b}" for a, b in rows])
    files["cassava/label_num_to_disease_map.json"] = json.dumps(names)
    files["cassava/sample_submission.csv"] = lines(["image_id,label", "2216849948.jpg,4"])
    files["cassava/train_tfrecords/ld_train00-1338.tfrec"] = b"\x10\0\0\0\0\0\0\0abcd"
    return Layout(
        "Cassava, with TFRecords of the same images",
        _C + "cassava-leaf-disease-classification/data",
        files,
        truth,
        "cassava",
    )


def _whale() -> Layout:
    rows = [
        ("0000e88ab.jpg", "w_f48451c"),
        ("0001f9222.jpg", "w_c3d896a"),
        ("00029d126.jpg", "w_20df2c5"),
        ("00050a15a.jpg", "new_whale"),
        ("0005c1ef8.jpg", "new_whale"),
        ("0006e997e.jpg", "new_whale"),
        ("000a6daec.jpg", "w_f48451c"),
    ]
    truth = {f"train/{name}": of(label, split="train") for name, label in rows}
    truth |= {f"test/00028a{n}.jpg": of(split="test") for n in range(3)}
    files = images(f"whale/{path}" for path in truth)
    files["whale/train.csv"] = lines(["Image,Id"] + [f"{a},{b}" for a, b in rows])
    files["whale/sample_submission.csv"] = lines(
        ["Image,Id"] + [f"00028a{n}.jpg,new_whale w_23a388d w_9b5109b" for n in range(3)]
    )
    return Layout(
        "Humpback Whale, where Id is the label",
        _C + "humpback-whale-identification/data",
        files,
        truth,
        "whale",
    )


def _landmark() -> Layout:
    rows = [
        ("17660ef415d37059", "1"),
        ("92b6290d571448f6", "1"),
        ("cd41bf948edc0340", "7"),
        ("fb09f1e98c6d2f70", "7"),
        ("25c9dfc7ea69838d", "9"),
        ("28b13f94a6f1f3c1", "9"),
    ]
    truth = {f"train/{i[0]}/{i[1]}/{i[2]}/{i}.jpg": of(label, split="train") for i, label in rows}
    tests = ("00084cdf8f600d00", "003a5aa2a4c9bc5d", "70a1b2c3d4e5f607")
    truth |= {f"test/{i[0]}/{i[1]}/{i[2]}/{i}.jpg": of(split="test") for i in tests}
    files = images(f"landmark/{path}" for path in truth)
    files["landmark/train.csv"] = lines(["id,landmark_id"] + [f"{a},{b}" for a, b in rows])
    files["landmark/sample_submission.csv"] = lines(
        ["id,landmarks"] + [f"{i},137790 0.1" for i in tests]
    )
    return Layout(
        "Landmark Recognition, folders of three letters of the id",
        _C + "landmark-recognition-2020/data",
        files,
        truth,
        "landmark",
    )


def _landmark_archive() -> Layout:
    row = _landmark()
    truth = {
        path.removeprefix("train/"): fact._replace(label=frozenset(), split="")
        for path, fact in row.truth.items()
        if path.startswith("train/")
    }
    files = {path: text for path, text in row.files.items() if not path.endswith(".csv")}
    return Layout(
        "Landmark Recognition, its train folder without the table",
        "https://github.com/cvdfoundation/google-landmark",
        files,
        truth,
        "landmark/train",
    )


def _aptos() -> Layout:
    ids = ("000c1434d8d7", "001639a390f0", "0024cdab0c1e", "002c21358ce6", "005b95c28852")
    grades = (2, 4, 1, 0, 0)
    truth = {
        f"train_images/{i}.png": of(str(g), split="train") for i, g in zip(ids, grades, strict=True)
    }
    truth |= {f"test_images/0005cfc8afb{n}.png": of(split="test") for n in range(3)}
    files = images(f"aptos/{path}" for path in truth)
    files["aptos/train.csv"] = lines(
        ["id_code,diagnosis"] + [f"{i},{g}" for i, g in zip(ids, grades, strict=True)]
    )
    tests = [f"0005cfc8afb{n}" for n in range(3)]
    files["aptos/test.csv"] = lines(["id_code", *tests])
    files["aptos/sample_submission.csv"] = lines(["id_code,diagnosis"] + [f"{t},0" for t in tests])
    return Layout("APTOS 2019", _C + "aptos2019-blindness-detection/data", files, truth, "aptos")


def _covid() -> Layout:
    truth: dict[str, Truth] = {}
    files: dict[str, str | bytes] = {}
    top = "COVID-19_Radiography_Dataset/"
    for name in ("COVID", "Lung_Opacity", "Normal", "Viral Pneumonia"):
        for n in range(1, 4):
            mask = f"{name}/masks/{name}-{n}.png"
            truth[f"{name}/images/{name}-{n}.png"] = of(name, files=[mask])
            files[top + mask] = ""
        files[f"{top}{name}.metadata.xlsx"] = xlsx(
            [["FILE NAME", "FORMAT", "SIZE", "URL"]]
            + [[f"{name}-{n}", "PNG", "256*256", "https://example.org"] for n in range(1, 4)]
        )
    files |= images(top + path for path in truth)
    files[top + "README.md.txt"] = "COVID-19 CHEST X-RAY DATABASE\n"
    return Layout(
        "COVID-19 Radiography, images and masks below each class",
        _D + "tawsifurrahman/covid19-radiography-database",
        files,
        truth,
        "COVID-19_Radiography_Dataset",
    )


def _fruits() -> Layout:
    truth: dict[str, Truth] = {}
    for split in ("Training", "Test"):
        for name in ("Apple Braeburn", "Apple Golden 1", "Kiwi"):
            for n in range(3):
                truth[f"{split}/{name}/{n}_100.jpg"] = of(
                    name, split={"Training": "train", "Test": "test"}[split]
                )
    top = "fruits-360/"
    files = images(top + path for path in truth)
    for n in range(3):
        truth[f"test-multiple_fruits/apple_kiwi_{n}.jpg"] = of()
        files[f"{top}test-multiple_fruits/apple_kiwi_{n}.jpg"] = ""
    files[top + "papers/fruits.pdf"] = b"%PDF-1.4\n"
    files[top + "LICENSE"] = "MIT License\n"
    files[top + "readme.md"] = "# Fruits 360\n\nFilename: image_index_100.jpg, 0_100.jpg\n"
    return Layout(
        "Fruits-360, with test-multiple_fruits", _D + "moltean/fruits", files, truth, "fruits-360"
    )


def _fruits_sound() -> Layout:
    row = _fruits()
    truth = {p: t for p, t in row.truth.items() if not p.startswith("test-")}
    files = {p: t for p, t in row.files.items() if "/test-" not in p}
    return Layout("Fruits-360, Training and Test", row.source, files, truth, "fruits-360")


def _animals_10() -> Layout:
    truth = {
        f"raw-img/{k}/OIP-{n}{k[0]}.jpeg": of(k, v)
        for k, v in (("cane", "dog"), ("gatto", "cat"), ("ragno", "spider"))
        for n in range(3)
    }
    files = images(f"animals10/{path}" for path in truth)
    files["animals10/translate.py"] = 'translate = {"cane": "dog", "gatto": "cat"}\n'
    return Layout("Animals-10", _D + "alessiocorrado99/animals10", files, truth, "animals10")


def _intel() -> Layout:
    truth: dict[str, Truth] = {}
    for split in ("train", "test"):
        for k in ("buildings", "forest", "street"):
            for n in range(2):
                truth[f"seg_{split}/seg_{split}/{k}/{split}{n}.jpg"] = of(k, split=split)
    truth |= {f"seg_pred/seg_pred/{n}.jpg": of(split="pred") for n in (3, 5, 6)}
    return Layout(
        "Intel Image Classification",
        _D + "puneet6060/intel-image-classification",
        images(f"intel/{path}" for path in truth),
        truth,
        "intel",
    )


def _flowers_tpu() -> Layout:
    truth: dict[str, Truth] = {}
    files: dict[str, str | bytes] = {}
    for folder, split in (("train", "train"), ("valid", "val"), ("test", "test")):
        for n in (1, 10, 2):
            for k in range(2):
                path = f"dataset/{folder}/{n}/image_0{k}{n}.jpg"
                truth[path] = of(
                    str(n),
                    {1: "pink primrose", 10: "globe thistle", 2: "canterbury"}[n],
                    split=split,
                )
    files |= images(f"flowers/{path}" for path in truth)
    files["flowers/cat_to_name.json"] = json.dumps(
        {"1": "pink primrose", "10": "globe thistle", "2": "canterbury"}
    )
    return Layout(
        "Oxford Flowers of a course, with cat_to_name.json",
        _D + "nunenuh/pytorch-challange-flower-dataset",
        files,
        truth,
        "flowers",
    )


def _melanoma() -> Layout:
    rows = [(f"ISIC_00{n}", n % 3 == 1) for n in range(15719, 15725)]
    truth = {
        f"jpeg/train/{i}.jpg": of(str(int(t)), "malignant" if t else "benign", split="train")
        for i, t in rows
    }
    truth |= {f"jpeg/test/ISIC_0052{n}.jpg": of(split="test") for n in range(3)}
    files = images(f"siim/{path}" for path in truth)
    head = "image_name,patient_id,sex,age_approx,anatom_site_general_challenge"
    files["siim/train.csv"] = lines(
        [head + ",diagnosis,benign_malignant,target"]
        + [
            f"{i},IP_{n},male,45.0,head/neck,unknown,{'malignant' if t else 'benign'},{int(t)}"
            for n, (i, t) in enumerate(rows)
        ]
    )
    files["siim/test.csv"] = lines(
        [head] + [f"ISIC_0052{n},IP_9{n},female,70.0,torso" for n in range(3)]
    )
    files["siim/sample_submission.csv"] = lines(
        ["image_name,target"] + [f"ISIC_0052{n},0" for n in range(3)]
    )
    return Layout(
        "SIIM-ISIC Melanoma, three columns that could be the label",
        _C + "siim-isic-melanoma-classification/data",
        files,
        truth,
        "siim",
    )


def _state_farm() -> Layout:
    truth: dict[str, Truth] = {}
    table = ["subject,classname,img"]
    for k in ("c0", "c1", "c9"):
        for n in range(3):
            truth[f"imgs/train/{k}/img_{n}{k}.jpg"] = of(k, split="train")
            table.append(f"p00{n},{k},img_{n}{k}.jpg")
    truth |= {f"imgs/test/img_{n}.jpg": of(split="test") for n in range(3)}
    files = images(f"drivers/{path}" for path in truth)
    files["drivers/driver_imgs_list.csv"] = lines(table)
    files["drivers/sample_submission.csv"] = lines(
        ["img," + ",".join(f"c{n}" for n in range(10))]
        + [f"img_{n}.jpg," + ",".join(["0.1"] * 10) for n in range(3)]
    )
    return Layout(
        "State Farm, class folders and a table of drivers",
        _C + "state-farm-distracted-driver-detection/data",
        files,
        truth,
        "drivers",
    )


def _pawpularity() -> Layout:
    ids = ("0007de18844b0dbbb5e1f607da0606e0", "0009c66b9439883ba2750fb825e1d7db", "0013fd99")
    truth = {
        f"train/{i}.jpg": of(split="train", holds=[score])
        for i, score in zip(ids, ("63", "42", "28"), strict=True)
    }
    truth["test/4128bae22183829d2b5fea10effdb0c3.jpg"] = of(split="test")
    files = images(f"pets/{path}" for path in truth)
    head = "Id,Subject Focus,Eyes,Face,Near,Action,Accessory,Group"
    files["pets/train.csv"] = lines(
        [head + ",Pawpularity"]
        + [
            f"{i},0,1,{n % 2},1,0,0,1,{s}"
            for n, (i, s) in enumerate(zip(ids, ("63", "42", "28"), strict=True))
        ]
    )
    files["pets/test.csv"] = lines([head, "4128bae22183829d2b5fea10effdb0c3,1,0,1,0,0,1,1"])
    files["pets/sample_submission.csv"] = lines(
        ["Id,Pawpularity", "4128bae22183829d2b5fea10effdb0c3,67.8"]
    )
    return Layout(
        "Pawpularity, flags of quality beside the score",
        _C + "petfinder-pawpularity-score/data",
        files,
        truth,
        "pets",
    )


LAYOUTS = named(
    "kaggle",
    [
        _dogs_vs_cats(),
        _dogs_vs_cats_train(),
        _plant_2020(),
        _plant_2021(),
        _hpa(),
        _histopathology(),
        _planet(),
        _cassava(),
        _whale(),
        _landmark(),
        _landmark_archive(),
        _aptos(),
        _covid(),
        _fruits(),
        _fruits_sound(),
        _animals_10(),
        _intel(),
        _flowers_tpu(),
        _melanoma(),
        _state_farm(),
        _pawpularity(),
    ],
)

"""Layouts of publishers' pages, and of people who asked how to pack theirs, a row for each."""

import json
from collections.abc import Callable, Iterable, Mapping

from layouts.making import images, lines, of, tar
from layouts.row import Layout, Truth

LAYOUTS: list[Layout] = []
Files = dict[str, str | bytes]
Truths = dict[str, Truth]


def _add(
    name: str,
    source: str,
    truth: Mapping[str, Truth],
    files: Mapping[str, str | bytes] = {},
    also: Iterable[str] = (),
) -> None:
    masks = [path for one in truth.values() for path in one.files]
    below = (
        images([*truth, *masks, *also])
        if not any(isinstance(f, bytes) for f in files.values())
        else {}
    )
    LAYOUTS.append(Layout(f"left: {name}", source, {**below, **files}, dict(truth)))


def _classes(way: str, kinds: Iterable[str], count: int = 3, split: str = "") -> Truths:
    return {way.format(k=k, n=n): of(k, split=split) for k in kinds for n in range(1, count + 1)}


def _table(head: str, rows: Iterable[Iterable[object]], sign: str = ",") -> str:
    return lines([*filter(None, [head]), *(sign.join(map(str, row)) for row in rows)])


def _medical() -> None:
    parts = ("flair", "seg", "t1", "t1ce", "t2")
    ids = [f"BraTS20_Training_{n:03}" for n in (1, 2, 3)]
    _add(
        "BraTS slices, a folder for each patient",
        "https://www.med.upenn.edu/cbica/brats2020/",
        {
            f"{p}/{p}_flair_{z}.png": of(files=[f"{p}/{p}_{one}_{z}.png" for one in parts[1:]])
            for p in ids
            for z in (60, 61)
        },
    )
    _add(
        "BraTS, a picture of each modality",
        "https://www.synapse.org/brats2023",
        {f"{p}/{p}_flair.png": of(files=[f"{p}/{p}_{one}.png" for one in parts[1:]]) for p in ids},
    )
    truth = {
        f"ICIAR2018/Photos/{k}/{k[0].lower()}{n:03}.tif": of(k)
        for k in ("Benign", "InSitu", "Invasive", "Normal")
        for n in (1, 2, 3)
    }
    rows = [(path.rpartition("/")[2], path.split("/")[2]) for path in truth]
    table = {"ICIAR2018/Photos/microscopy_ground_truth.csv": _table("", rows)}
    _add("BACH with its table", "https://iciar2018-challenge.grand-challenge.org/", truth, table)
    _add(
        "LC25000, lungs and colons",
        "https://github.com/tampapath/lung_colon_image_set",
        {
            f"lung_colon_image_set/{organ}_image_sets/{k}/{k.replace('_', '')}{n}.jpeg": of(k)
            for organ, kinds in {
                "colon": ("colon_aca", "colon_n"),
                "lung": ("lung_aca", "lung_n"),
            }.items()
            for k in kinds
            for n in (1, 2, 3)
        },
    )
    truth = {
        f"Data/{folder}/{k}_{where}/{n:06}.png": of(f"{k}_{where}", split=split)
        for folder, split, where in (("train", "train", "left"), ("valid", "val", "left"))
        for k in ("adenocarcinoma", "normal")
        for n in range(3)
    }
    _add(
        "Chest CT scans", "https://www.kaggle.com/datasets/mohamedhanyyy/chest-ctscan-images", truth
    )
    kinds = {"1. Microaneurysms": "MA", "2. Haemorrhages": "HE"}
    sets = {"a. Training Set": "train", "b. Testing Set": "test"}
    originals = "A. Segmentation/1. Original Images"
    grounds = "A. Segmentation/2. All Segmentation Groundtruths"
    _add(
        "IDRiD, masks of lesions",
        "https://idrid.grand-challenge.org/",
        {
            f"{originals}/{s}/IDRiD_{n:02}.jpg": of(
                split=split,
                files=[f"{grounds}/{s}/{k}/IDRiD_{n:02}_{e}.tif" for k, e in kinds.items()],
            )
            for at, (s, split) in enumerate(sets.items())
            for n in range(1 + 3 * at, 4 + 3 * at)
        },
    )
    truth = {f"images/{n:04}.png": of(str(n % 4)) for n in range(12)}
    rows = [(p.rpartition("/")[2], *t.label, 1) for p, t in truth.items()]
    head = "image_id,adjudicated_dr_grade,adjudicated_gradable"
    _add(
        "Messidor-2",
        "https://www.kaggle.com/datasets/google-brain/messidor2-dr-grades",
        truth,
        {"messidor_data.csv": _table(head, rows)},
    )
    truth = {
        f"imgs_part_{1 + n // 4}/PAT_{n}_{7 * n}_{n + 11}.png": of(("BCC", "NEV", "ACK")[n % 3])
        for n in range(12)
    }
    rows = [
        (f"PAT_{n}", n + 30, *t.label, p.split("/")[1]) for n, (p, t) in enumerate(truth.items())
    ]
    _add(
        "PAD-UFES-20, three folders of images",
        "https://data.mendeley.com/datasets/zr7vgbcyr2",
        truth,
        {"metadata.csv": _table("patient_id,age,diagnostic,img_id", rows)},
    )
    _add(
        "OCT2017",
        "https://data.mendeley.com/datasets/rscbjbr9sj",
        {
            f"OCT2017/{s}/{k}/{k}-{at * 10 + n}-{n}.jpeg": of(k, split=s)
            for at, s in enumerate(("train", "val", "test"))
            for k in ("CNV", "DME")
            for n in (1, 2)
        },
    )
    _add(
        "MoNuSeg, XML beside pictures",
        "https://monuseg.grand-challenge.org/",
        {f"Tissue Images/TCGA-{n}-01.tif": of(holds=[f"<Region Id='{n}'"]) for n in range(4)},
        {
            f"Annotations/TCGA-{n}-01.xml": f"<Annotations><Region Id='{n}'/></Annotations>"
            for n in range(4)
        },
    )


def _videos() -> None:
    train = {"Archery": ("v_Archery_g08_c01", "v_Archery_g09_c01"), "Biking": ("v_Biking_g08_c01",)}
    test = {"Archery": ("v_Archery_g01_c01",), "Biking": ("v_Biking_g01_c01",)}
    truth: Truths = {}
    rows = []
    for n, (kind, videos) in enumerate(train.items(), 1):
        for video in videos:
            rows.append(f"{kind}/{video}.avi {n}")
            for k in (1, 2, 3):
                truth[f"jpegs_256/{video}/frame{k:06}.jpg"] = of(str(n), kind, split="train")
    truth |= {
        f"jpegs_256/{video}/frame{k:06}.jpg": of("1", "2", kind, split="test")
        for kind, videos in test.items()
        for video in videos
        for k in (1, 2, 3)
    }
    tests = [f"{kind}/{video}.avi" for kind, videos in test.items() for video in videos]
    lists = {
        "ucfTrainTestlist/trainlist01.txt": lines(rows),
        "ucfTrainTestlist/testlist01.txt": lines(tests),
        "ucfTrainTestlist/classInd.txt": "1 Archery\n2 Biking\n",
    }
    _add(
        "UCF101, folders of frames without classes",
        "https://www.crcv.ucf.edu/data/UCF101.php",
        truth,
        lists,
    )
    kinds = ["Doing other things", "Swiping Left", "Stop Sign"]
    truth = {
        f"20bn-jester-v1/{v}/{k:05}.jpg": of(kinds[v % 3], split="train" if v < 7 else "val")
        for v in range(1, 10)
        for k in (1, 2)
    }
    _add(
        "Jester, lists of folders",
        "https://developer.qualcomm.com/software/ai-datasets/jester",
        truth,
        {
            "jester-v1-train.csv": lines(f"{v};{kinds[v % 3]}" for v in range(1, 7)),
            "jester-v1-validation.csv": lines(f"{v};{kinds[v % 3]}" for v in range(7, 10)),
        },
    )
    _add(
        "Vimeo-90k, seven frames each",
        "http://toflow.csail.mit.edu/",
        {
            f"vimeo/sequences/{a:05}/{b:04}/im1.png": of(
                files=[f"vimeo/sequences/{a:05}/{b:04}/im{n}.png" for n in range(2, 8)]
            )
            for a in (1, 2)
            for b in (1, 2, 3)
        },
    )
    _add(
        "CASIA-B, silhouettes by condition and angle",
        "http://www.cbsr.ia.ac.cn/english/Gait",
        {
            f"{p}/{c}/{angle}/{p}-{c}-{angle}-{n:03}.png": of(p)
            for p in ("001", "002")
            for c in ("nm-01", "bg-02")
            for angle in ("000", "090")
            for n in (51, 52)
        },
    )


def _people() -> None:
    people = ["Aaron_Eckhart", "Zico", "Yao_Ming", "Abel_Pacheco"]
    truth = {
        f"lfw/{p}/{p}_{n:04}.jpg": of(p, split="train" if p in people[:2] else "test")
        for p in people
        for n in (1, 2, 3)
    }
    _add(
        "LFW with its lists of people",
        "http://vis-www.cs.umass.edu/lfw/",
        truth,
        {
            "peopleDevTrain.txt": "2\nAaron_Eckhart\t3\nZico\t3\n",
            "peopleDevTest.txt": "2\nYao_Ming\t3\nAbel_Pacheco\t3\n",
            "pairsDevTrain.txt": "2\nAaron_Eckhart\t1\t2\nZico\t2\t3\n",
        },
    )
    records, truth = [], {}
    for n in range(12):
        path, split = f"{('CUHK01', 'cam_a')[n % 2]}/{n:04}.png", ("train", "val", "test")[n % 3]
        said = f"person number {n} wears red"
        truth[f"imgs/{path}"] = of(str(n // 3), split=split, holds=[said])
        records.append({"split": split, "captions": [said], "file_path": path, "id": n // 3})
    _add(
        "CUHK-PEDES, persons in JSON",
        "https://github.com/ShuangLI59/Person-Search-with-Natural-Language-Description",
        truth,
        {"reid_raw.json": json.dumps(records)},
    )
    truth = {
        f"Data/{s}/{p}/{kind}/{n:06}.png": of(kind, split=s)
        for s, p in (("train", 1), ("train", 2), ("test", 9), ("test", 8))
        for kind in ("live", "spoof")
        for n in (1, 2)
    }
    _add(
        "CelebA-Spoof, kinds below persons",
        "https://github.com/ZhangYuanhan-AI/CelebA-Spoof",
        truth,
    )
    truth = {
        f"{folder}/{p:04}_c00{c}_0001{p}450_0.jpg": of(f"{p:04}", split=s)
        for folder, s, first in (
            ("image_train", "train", 1),
            ("image_test", "test", 7),
            ("image_query", "query", 7),
        )
        for p in range(first, first + 3)
        for c in ((1, 2) if s != "query" else (3,))
    }
    _add(
        "VeRi-776 with lists of names",
        "https://vehiclereid.github.io/VeRi/",
        truth,
        {
            f"name_{s}.txt": lines(p.split("/")[1] for p, t in truth.items() if t.split == s)
            for s in ("train", "test", "query")
        },
    )
    truth = {
        f"CK+48/{k}/S{n:03}_00{n}_0000000{n}.png": of(k)
        for k in ("anger", "fear")
        for n in range(4)
    }
    _add("CK+ in class folders", "https://www.kaggle.com/datasets/shawon10/ckplus", truth)


def _objects() -> None:
    names = {"1": "pink primrose", "10": "globe thistle", "2": "orchid"}
    truth = {
        f"flowers/{s}/{k}/image_{n:05}.jpg": of(k, names[k], split=split)
        for s, split, n in (("train", "train", 1), ("train", "train", 2), ("valid", "val", 3))
        for k in names
    }
    _add(
        "flowers with names of classes in JSON",
        "https://github.com/udacity/aipnd-project",
        truth,
        {"cat_to_name.json": json.dumps(names)},
    )
    truth = _classes("Images/n0208{n}-{k}/n0208{n}_7.jpg", ("Chihuahua", "Pekinese"), 3)
    truth = {p: of(p.split("/")[1], holds=["<xmin>4</xmin>"]) for p in truth}
    box = (
        "<annotation><filename>%s</filename><object><name>dog</name><bndbox><xmin>4</xmin>"
        "<ymin>5</ymin><xmax>20</xmax><ymax>21</ymax></bndbox></object></annotation>"
    )
    _add(
        "Stanford Dogs, annotations without extension",
        "http://vision.stanford.edu/aditya86/ImageNetDogs/",
        truth,
        {p.replace("Images", "Annotation").removesuffix(".jpg"): box % "x" for p in truth},
    )
    truth = {
        f"images/{k}/{k}{n:04}.png": of(k, split=("train", "val", "test")[n % 3])
        for k in ("BEANS", "CAKE")
        for n in range(6)
    }
    _add(
        "Freiburg groceries, a list for each split",
        "http://aisdatasets.informatik.uni-freiburg.de/freiburg_groceries_dataset/",
        truth,
        {
            f"splits/{s}0.txt": lines(
                f"{p[7:]} {int('CAKE' in p)}" for p, t in truth.items() if t.split == split
            )
            for s, split in (("train", "train"), ("validation", "val"), ("test", "test"))
        },
    )
    truth = {
        f"png/{k}/{n + 80 * at}.png": of(k)
        for at, k in enumerate(("airplane", "alarm clock"))
        for n in (1, 2, 3)
    }
    _add(
        "TU-Berlin sketches with a list of all",
        "https://cybertron.cg.tu-berlin.de/eitz/projects/classifysketch/",
        truth,
        {"png/filelist.txt": lines(p[4:] for p in truth)},
    )
    truth = {
        f"asl_alphabet_train/asl_alphabet_train/{k}/{k}{n}.jpg": of(k, split="train")
        for k in "ABC"
        for n in (1, 2, 3)
    }
    truth |= {f"asl_alphabet_test/asl_alphabet_test/{k}_test.jpg": of(split="test") for k in "ABC"}
    _add(
        "ASL alphabet, a test picture of each",
        "https://www.kaggle.com/datasets/grassknoted/asl-alphabet",
        truth,
    )
    truth = {
        f"images/{n}.jpg": of(("Shirts", "Jeans", "Watches")[n % 3], holds=[f"Product {n}"])
        for n in range(1163, 1175)
    }
    rows = [(p[7:-4], "Men", *t.label, *t.holds) for p, t in truth.items()]
    _add(
        "Fashion product images",
        "https://www.kaggle.com/datasets/paramaggarwal/fashion-product-images-small",
        truth,
        {"styles.csv": _table("id,gender,articleType,productDisplayName", rows)},
    )
    _add(
        "plant seedlings, names with blanks",
        "https://vision.eng.au.dk/plant-seedlings-dataset/",
        _classes("Plant_Seedlings/{k}/{n}.png", ("Black-grass", "Common Chickweed", "Maize"), 4),
    )
    truth = {
        f"sketchy/{kind}/tx_000000000000/{k}/n0269{n}_10{end}": of(k)
        for kind, end in (("photo", ".jpg"), ("sketch", "-1.png"))
        for k in ("airplane", "ape")
        for n in (1, 2)
    }
    _add("Sketchy, photographs and sketches", "https://github.com/CDOTAD/SketchyDatabase", truth)
    shards: Files = {
        f"{p}/shard0.tar": tar({f"{p}{n}.jpg": "", f"{p}{n}.cls": str(n % 2)})
        for p in ("p1", "p2")
        for n in (1,)
    }
    truth = {f"{p}1.jpg": of("1") for p in ("p1", "p2")}
    _add(
        "tars of the same name in two folders",
        "https://github.com/webdataset/webdataset",
        truth,
        shards,
    )
    truth = {
        f"beans/{s}/{k}/{k}_{s}.{n}.jpg": of(k, split=split)
        for s, split in (("train", "train"), ("validation", "val"))
        for k in ("healthy", "bean_rust")
        for n in (0, 1)
    }
    _add("beans", "https://github.com/AI-Lab-Makerere/ibean", truth)
    truth = {
        f"Garbage classification/{k}/{k}{n}.jpg": of(k)
        for k in ("cardboard", "glass")
        for n in range(1, 7)
    }
    _add(
        "TrashNet with one-indexed lists",
        "https://www.kaggle.com/datasets/asdasdasasdas/garbage-classification",
        truth,
        {
            "one-indexed-files.txt": lines(
                f"{p.rpartition('/')[2]} {1 + ('glass' in p)}" for p in truth
            ),
        },
    )


def _pixels() -> None:
    _add(
        "Mapillary Vistas, labels and instances",
        "https://www.mapillary.com/dataset/vistas",
        {
            f"{s}/images/{n}abc.jpg": of(
                split=split, files=[f"{s}/v1.2/labels/{n}abc.png", f"{s}/v1.2/instances/{n}abc.png"]
            )
            for s, split, some in (("training", "train", (1, 2, 3)), ("validation", "val", (4, 5)))
            for n in some
        },
    )
    _add(
        "MIT-Adobe FiveK, experts",
        "https://data.csail.mit.edu/graphics/fivek/",
        {
            f"input/a{n:04}.jpg": of(files=[f"expert{e}/a{n:04}.jpg" for e in "ABC"])
            for n in range(1, 6)
        },
    )
    _add(
        "SROIE, three folders",
        "https://rrc.cvc.uab.es/?ch=13",
        {
            f"{s}/img/X{n}1.jpg": of(split=s, holds=[f"shop {n}", f"1,2,9,{n}0"])
            for s, some in (("train", (1, 2)), ("test", (3, 4)))
            for n in some
        },
        {
            f"{s}/{kind}/X{n}1.txt": text.format(n=n)
            for s, some in (("train", (1, 2)), ("test", (3, 4)))
            for n in some
            for kind, text in (
                ("box", "1,2,9,{n}0,TOTAL\n"),
                ("entities", '{{"company": "shop {n}"}}\n'),
            )
        },
    )
    _add(
        "CORD, JSON beside receipts",
        "https://github.com/clovaai/cord",
        {
            f"CORD/{s}/image/receipt_{n:05}.png": of(split=split, holds=[f"menu {s} {n}"])
            for s, split in (("train", "train"), ("dev", "val"), ("test", "test"))
            for n in (0, 1)
        },
        {
            f"CORD/{s}/json/receipt_{n:05}.json": json.dumps({"valid_line": [f"menu {s} {n}"]})
            for s in ("train", "dev", "test")
            for n in (0, 1)
        },
    )
    _add(
        "GlaS, masks beside the images",
        "https://warwick.ac.uk/fac/cross_fac/tia/data/glascontest/",
        {
            f"{s}_{n}.bmp": of(files=[f"{s}_{n}_anno.bmp"])
            for s in ("train", "testA")
            for n in (1, 2, 3)
        },
    )
    _add(
        "CrackForest, masks in another format",
        "https://github.com/cuilimeng/CrackForest-dataset",
        {
            f"CrackForest/image/{n:03}.jpg": of(files=[f"CrackForest/groundTruthPng/{n:03}.png"])
            for n in range(1, 6)
        },
    )
    _add(
        "WHU buildings, tiles by split",
        "http://gpcv.whu.edu.cn/data/building_dataset.html",
        {
            f"{s}/image/{n}.tif": of(split=s, files=[f"{s}/label/{n}.tif"])
            for s, some in (("train", (0, 1, 2)), ("val", (3, 4)), ("test", (5, 6)))
            for n in some
        },
    )
    _add(
        "iSAID patches, two masks each",
        "https://captain-whu.github.io/iSAID/",
        {
            f"train/images/P0{n}.png": of(
                files=[
                    f"train/Semantic_masks/P0{n}_instance_color_RGB.png",
                    f"train/Instance_masks/P0{n}_instance_id_RGB.png",
                ]
            )
            for n in range(1, 5)
        },
    )


def _reports() -> None:
    hub = "https://github.com/"
    _add(
        "report: captions of other names",
        hub + "webdataset/webdataset/issues/296",
        {f"base_folder/img{n}.png": of(holds=[f"caption of {n}"]) for n in range(1, 5)},
        {f"base_folder/caption{n}.txt": f"caption of {n}" for n in range(1, 5)},
    )
    truth = {f"images/{n:03}.png": of(str(n % 3)) for n in range(9)}
    _add(
        "report: a list of labels in order",
        hub + "tensorflow/tensorflow/issues/44752",
        truth,
        {"labels.txt": lines(str(n % 3) for n in range(9))},
    )
    truth = {f"imgs/{n}a.jpg": of(holds=[f"shop {n}"]) for n in range(8)}
    _add(
        "report: a frame of metadata",
        hub + "webdataset/webdataset/issues/176",
        truth,
        {"df.csv": _table(",url,shop", ((n, f"s3://b/x/{n}a.jpg", f"shop {n}") for n in range(8)))},
    )
    _add(
        "report: ImageNet by imagefolder",
        hub + "huggingface/datasets/issues/4015",
        {
            f"imagenet/{s}/{k}/ILSVRC2012_val_{n:08}.jpg": of(k, split=s)
            for s, n in (("train", 293), ("train", 294), ("val", 1))
            for k in ("n01440764", "n01695060")
        },
    )
    _add(
        "report: a folder of masks for each class",
        hub + "4uiiurz1/pytorch-nested-unet/issues/52",
        {
            f"inputs/cells/images/0a7e0{n}.jpg": of(
                files=[f"inputs/cells/masks/{k}/0a7e0{n}.png" for k in (0, 1)]
            )
            for n in range(4)
        },
    )
    truth = _classes("train/{k}/{k}_{n}.JPEG", ("n01440764", "n01695060"), 3, "train")
    flat = {
        f"val/ILSVRC2012_val_{n:08}.JPEG": of(("n01440764", "n01695060")[n % 2], split="val")
        for n in range(1, 5)
    }
    _add(
        "report: labels of val in a text",
        hub + "facebookresearch/FixRes/issues/32",
        truth | flat,
        {"val_labels.txt": lines(f"{p[4:]} {next(iter(t.label))}" for p, t in flat.items())},
    )
    _add(
        "report: class folders to be divided",
        hub + "pytorch/vision/pull/613",
        _classes("root/{k}/{k}x{n}.png", ("dog", "cat")),
    )
    truth = {
        f"data/{n:05}.jpg": of(str(n % 2), split="train" if n < 6 else "val") for n in range(9)
    }
    _add(
        "report: image_ids and class_labels",
        hub + "clovaai/wsolevaluation/issues/44",
        truth,
        {
            f"metadata/{s}/{name}.txt": lines(
                (p + f",{next(iter(t.label))}" * (name == "class_labels"))
                for p, t in truth.items()
                if t.split == s
            )
            for s in ("train", "val")
            for name in ("image_ids", "class_labels")
        },
    )
    _add(
        "report: images and labels by split",
        hub + "Attila94/refinenet-keras/issues/4",
        {
            f"{s}/images/{n}.png": of(split=split, files=[f"{s}/labels/{n}.png"])
            for s, split, some in (("training", "train", "123"), ("validation", "val", "45"))
            for n in some
        },
    )
    kinds = ("red", "dress", "blue")
    truth = {
        f"images/{n}.jpg": of(
            labels=[kinds[n % 3], kinds[(n + 1) % 3]], split="train" if n < 6 else "val"
        )
        for n in range(9)
    }
    rows = {p: (p[7:], *(int(k in t.labels) for k in kinds)) for p, t in truth.items()}
    _add(
        "report: columns of several labels",
        hub + "yang-ruixin/PyTorch-Image-Models-Multi-Label-Classification/issues/8",
        truth,
        {
            f"{s}.csv": _table(
                "filename,red,dress,blue", (rows[p] for p, t in truth.items() if t.split == s)
            )
            for s in ("train", "val")
        },
    )
    truth = {f"plates/car{n}.jpg": of(holds=[f"AB{n}12CD"]) for n in range(6)}
    _add(
        "report: plates in a CSV",
        hub + "GuiltyNeuron/ANPR/issues/16",
        truth,
        {"plates.csv": _table("img_id,text", ((f"car{n}.jpg", f"AB{n}12CD") for n in range(6)))},
    )
    _add(
        "report: breeds in Images",
        hub + "sassoftware/python-dlpy/issues/215",
        _classes(
            "images/Images/{k}/n0208_{n}.jpg", ("n02085620-Chihuahua", "n02085782-Japanese_spaniel")
        ),
    )
    inside = _classes("your_folder/{k}/{k}_{n}.jpg", ("cat", "dog"))
    _add(
        "report: a tar of class folders",
        hub + "rom1504/img2dataset/issues/211",
        inside,
        {"0.tar": tar(images(inside))},
    )
    _add(
        "report: animals by split",
        hub + "huggingface/blog/pull/409",
        {
            f"folder/{s}/{k}/{k}{n}.png": of(k, split=s)
            for s in ("train", "test")
            for k in ("cat", "dog")
            for n in (1, 2)
        },
    )
    held: Files = {
        f"sample{n:08}.{end}": text
        for n in range(4)
        for end, text in (("input.jpg", ""), ("outputs.txt", f"a bird {n}"))
    }
    _add(
        "report: names with two extensions",
        hub + "mlfoundations/open_clip/issues/480",
        {f"sample{n:08}.input.jpg": of(holds=[f"a bird {n}"]) for n in range(4)},
        {"shard-000000.tar": tar(held)},
    )


_ALL: tuple[Callable[[], None], ...] = (_medical, _videos, _people, _objects, _pixels, _reports)
for _make in _ALL:
    _make()

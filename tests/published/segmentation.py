"""Images with masks, maps of change and of depth, as their publishers lay them out."""

import json

from published.making import archived, hdf5, images, lines, mat, named, of
from published.row import Layout, Truth


def _masked(
    name: str,
    source: str,
    src: str,
    pairs: dict[str, list[str]],
    split: dict[str, str] | None = None,
    more: dict[str, str | bytes] | None = None,
) -> Layout:
    """Return a layout of images without classes, each with the masks that `pairs` names."""
    truth = {
        path: of(split=(split or {}).get(path.split("/")[0], ""), files=masks)
        for path, masks in pairs.items()
    }
    files = images(f"{src}/{path}" for path in truth)
    files |= images(f"{src}/{mask}" for masks in pairs.values() for mask in masks)
    return Layout(name, source, files | (more or {}), truth, src)


def _drive() -> Layout:
    pairs = {
        f"training/images/{n}_training.tif": [
            f"training/1st_manual/{n}_manual1.gif",
            f"training/mask/{n}_training_mask.gif",
        ]
        for n in (21, 22, 23)
    }
    pairs |= {f"test/images/0{n}_test.tif": [f"test/mask/0{n}_test_mask.gif"] for n in (1, 2, 3)}
    return _masked(
        "DRIVE, manual segmentations beside masks of the view",
        "https://drive.grand-challenge.org",
        "DRIVE",
        pairs,
        {"training": "train", "test": "test"},
    )


def _chase() -> Layout:
    pairs = {
        f"Image_{n:02}{eye}.jpg": [
            f"Image_{n:02}{eye}_1stHO.png",
            f"Image_{n:02}{eye}_2ndHO.png",
        ]
        for n in (1, 2, 3)
        for eye in "LR"
    }
    return _masked(
        "CHASE_DB1, two observers beside each image",
        "https://blogs.kingston.ac.uk/retinal/chasedb1/",
        "CHASEDB1",
        pairs,
    )


def _camvid() -> Layout:
    pairs: dict[str, list[str]] = {}
    for split in ("train", "val", "test"):
        for n in range(3):
            stem = f"0001TP_00{n}{len(split)}"
            pairs[f"{split}/{stem}.png"] = [f"{split}_labels/{stem}_L.png"]
    return _masked(
        "CamVid as Kaggle has it",
        "https://www.kaggle.com/datasets/carlolepelaars/camvid",
        "CamVid",
        pairs,
        {"train": "train", "val": "val", "test": "test"},
        {"CamVid/class_dict.csv": "name,r,g,b\nAnimal,64,128,64\nArchway,192,0,128\n"},
    )


def _camvid_fastai() -> Layout:
    pairs = {f"images/0006R0_f0{n}.png": [f"labels/0006R0_f0{n}_P.png"] for n in range(6)}
    row = _masked(
        "CamVid as fastai has it, with codes.txt and valid.txt",
        "https://docs.fast.ai/tutorial.vision.html",
        "camvid",
        pairs,
        None,
        {
            "camvid/codes.txt": lines(["Animal", "Archway", "Bicyclist"]),
            "camvid/valid.txt": lines(["0006R0_f04.png", "0006R0_f05.png"]),
        },
    )
    truth = {
        path: fact._replace(split="val" if path[-5] in "45" else "train")
        for path, fact in row.truth.items()
    }
    return row._replace(truth=truth)


def _celeba_mask() -> Layout:
    truth: dict[str, Truth] = {}
    files: dict[str, str | bytes] = {}
    top = "CelebAMask-HQ/"
    for n in range(4):
        masks = [
            f"CelebAMask-HQ-mask-anno/{n // 2}/{n:05}_{part}.png"
            for part in ("hair", "nose", "skin")[: 2 + n % 2]
        ]
        truth[f"CelebA-HQ-img/{n}.jpg"] = of(files=masks)
        files |= images(top + mask for mask in masks)
    files |= images(top + path for path in truth)
    files[top + "CelebAMask-HQ-attribute-anno.txt"] = lines(
        ["4", "Male Young", *[f"{n}.jpg  1 -1" for n in range(4)]]
    )
    files[top + "CelebA-HQ-to-CelebA-mapping.txt"] = lines(
        ["idx orig_idx orig_file"] + [f"{n}  {n + 119613} {n + 119614}.jpg" for n in range(4)]
    )
    files[top + "README.txt"] = "CelebAMask-HQ\n"
    return Layout(
        "CelebAMask-HQ, a mask for each part",
        "https://github.com/switchablenorms/CelebAMask-HQ",
        files,
        truth,
        "CelebAMask-HQ",
    )


def _levir(split: bool) -> Layout:
    truth: dict[str, Truth] = {}
    for name in ("train", "val", "test") if split else ("",):
        for n in range(1, 4):
            below = f"{name}/" if split else ""
            stem = f"{name or 'all'}_{n}.png"
            truth[f"{below}A/{stem}"] = of(
                split=name, files=[f"{below}B/{stem}", f"{below}label/{stem}"]
            )
    files = images(f"LEVIR-CD/{path}" for path in truth)
    files |= images(f"LEVIR-CD/{p}" for fact in truth.values() for p in fact.files)
    if not split:
        for part, n in (("train", 1), ("val", 2), ("test", 3)):
            files[f"LEVIR-CD/list/{part}.txt"] = f"all_{n}.png\n"
        truth = {
            path: fact._replace(split={"1": "train", "2": "val", "3": "test"}[path[-5]])
            for path, fact in truth.items()
        }
    return Layout(
        "LEVIR-CD" if split else "LEVIR-CD as change detectors read it, with lists",
        "https://justchenhao.github.io/LEVIR/"
        if split
        else "https://github.com/justchenhao/BIT_CD#-data-structure",
        files,
        truth,
        "LEVIR-CD",
    )


def _deepglobe() -> Layout:
    pairs: dict[str, list[str]] = {
        f"train/{n}_sat.jpg": [f"train/{n}_mask.png"] for n in (100034, 10233, 103)
    }
    pairs |= {f"{split}/{n}_sat.jpg": [] for split in ("valid", "test") for n in (100794, 107)}
    table = ["image_id,split,sat_image_path,mask_path"]
    for path, masks in pairs.items():
        number = path.split("/")[1].split("_")[0]
        table.append(f"{number},{path.split('/')[0]},{path},{''.join(masks)}")
    return _masked(
        "DeepGlobe roads, with its table",
        "https://www.kaggle.com/datasets/balraj98/deepglobe-road-extraction-dataset",
        "deepglobe",
        pairs,
        {"train": "train", "valid": "val", "test": "test"},
        {
            "deepglobe/metadata.csv": lines(table),
            "deepglobe/class_dict.csv": "name,r,g,b\nroad,255,255,255\nbackground,0,0,0\n",
        },
    )


def _deepglobe_folder() -> Layout:
    row = _deepglobe()
    files = {path: text for path, text in row.files.items() if not path.endswith(".csv")}
    return row._replace(name="DeepGlobe roads, its folders", files=files)


def _kvasir() -> Layout:
    ids = ("cju0qkwl35piu0993l0dewei2", "cju0qoxqj9q6s0835b43399p4", "cju0qx73cjw570799j4n5cjze")
    box = {
        i: {
            "height": 24,
            "width": 24,
            "bbox": [{"label": "polyp", "xmin": 2, "ymin": 3, "xmax": 12, "ymax": 14}],
        }
        for i in ids
    }
    return _masked(
        "Kvasir-SEG, with boxes in a JSON",
        "https://datasets.simula.no/kvasir-seg/",
        "Kvasir-SEG",
        {f"images/{i}.jpg": [f"masks/{i}.jpg"] for i in ids},
        None,
        {"Kvasir-SEG/kavsir_bboxes.json": json.dumps(box)},
    )


def _mvtec() -> Layout:
    truth: dict[str, Truth] = {}
    for thing in ("bottle", "cable"):
        for n in range(3):
            truth[f"{thing}/train/good/00{n}.png"] = of("good", split="train")
            truth[f"{thing}/test/good/00{n}.png"] = of("good", split="test")
        for n in range(2):
            truth[f"{thing}/test/broken/00{n}.png"] = of(
                "broken", split="test", files=[f"{thing}/ground_truth/broken/00{n}_mask.png"]
            )
    top = "mvtec_anomaly_detection/"
    files = images(top + path for path in truth)
    files |= images(top + p for fact in truth.values() for p in fact.files)
    files[top + "license.txt"] = "CC BY-NC-SA 4.0\n"
    for thing in ("bottle", "cable"):
        files[f"{top}{thing}/readme.txt"] = "MVTec AD\n"
        files[f"{top}{thing}/license.txt"] = "CC BY-NC-SA 4.0\n"
    return Layout(
        "MVTec AD, all objects",
        "https://www.mvtec.com/company/research/datasets/mvtec-ad",
        files,
        truth,
        "mvtec_anomaly_detection",
    )


def _visa() -> Layout:
    truth: dict[str, Truth] = {}
    files: dict[str, str | bytes] = {}
    split = ["object,split,label,image,mask"]
    for thing in ("candle", "pcb1"):
        notes = ["image,label,mask"]
        for n in range(4):
            path = f"{thing}/Data/Images/Normal/000{n}.JPG"
            part = "test" if n == 3 else "train"
            truth[path] = of("Normal", "normal", thing, split=part)
            notes.append(f"{path},normal,")
            split.append(f"{thing},{part},normal,{path},")
        for n in range(2):
            path = f"{thing}/Data/Images/Anomaly/00{n}.JPG"
            mask = f"{thing}/Data/Masks/Anomaly/00{n}.png"
            kind = "chunk of wax missing" if n else "melt,burnt"
            truth[path] = of("Anomaly", "anomaly", thing, split="test", files=[mask])
            notes.append(f'{path},"{kind}",{mask}')
            split.append(f"{thing},test,anomaly,{path},{mask}")
            files[f"VisA/{mask}"] = ""
        files[f"VisA/{thing}/image_anno.csv"] = lines(notes)
    files["VisA/split_csv/1cls.csv"] = lines(split)
    files["VisA/split_csv/2cls_fewshot.csv"] = lines(
        row.replace(",test,", ",train,", 1) if n % 2 else row for n, row in enumerate(split)
    )
    files |= images(f"VisA/{path}" for path in truth)
    return Layout(
        "VisA with its tables of splits",
        "https://github.com/amazon-science/spot-diff",
        files,
        truth,
        "VisA",
    )


def _penn_fudan() -> Layout:
    pairs = {
        f"PNGImages/{place}0000{n}.png": [f"PedMasks/{place}0000{n}_mask.png"]
        for place in ("FudanPed", "PennPed")
        for n in (1, 2, 3)
    }
    files: dict[str, str | bytes] = {
        f"PennFudanPed/Annotation/{path[10:-4]}.txt": "# Compatible with PASCAL Annotation\n"
        f'Image filename : "PennFudanPed/{path}"\n'
        'Bounding box for object 1 "PASpersonWalking" (Xmin, Ymin) - (Xmax, Ymax) : '
        "(2, 3) - (12, 14)\n"
        for path in pairs
    }
    files["PennFudanPed/added-object-list.txt"] = "FudanPed00001.png\n"
    files["PennFudanPed/readme.txt"] = "Penn-Fudan Database\n"
    return _masked(
        "Penn-Fudan with its annotations",
        "https://www.cis.upenn.edu/~jshi/ped_html/; a tutorial of torchvision",
        "PennFudanPed",
        pairs,
        None,
        files,
    )


def _loveda(both: bool) -> Layout:
    pairs: dict[str, list[str]] = {}
    for split in ("Train", "Val") if both else ("Val",):
        for place in ("Rural", "Urban"):
            for n in range(2):
                top = f"{split}/{place}"
                pairs[f"{top}/images_png/{n}.png"] = [f"{top}/masks_png/{n}.png"]
    return _masked(
        "LoveDA" if both else "LoveDA, the validation alone",
        "https://github.com/Junjue-Wang/LoveDA; torchgeo.datasets.LoveDA",
        "LoveDA",
        pairs,
        {"Train": "train", "Val": "val"},
    )


def _ade20k_scene() -> Layout:
    truth: dict[str, Truth] = {}
    scenes = []
    for split, short in (("training", "train"), ("validation", "val")):
        for n in range(1, 4):
            stem = f"ADE_{short}_0000000{n}"
            scene = ("airport_terminal", "art_gallery")[n % 2]
            truth[f"images/{split}/{stem}.jpg"] = of(
                split=short, files=[f"annotations/{split}/{stem}.png"]
            )
            scenes.append(f"{stem} {scene}")
    top = "ADEChallengeData2016/"
    files = images(top + path for path in truth)
    files |= images(top + p for fact in truth.values() for p in fact.files)
    files[top + "objectInfo150.txt"] = (
        "Idx\tRatio\tTrain\tVal\tName\n1\t0.1576\t11664\t1172\twall\n"
    )
    files[top + "sceneCategories.txt"] = lines(scenes)
    return Layout(
        "ADE20K, scene parsing, with sceneCategories.txt",
        "http://sceneparsing.csail.mit.edu",
        files,
        truth,
        "ADEChallengeData2016",
    )


def _ade20k_full() -> Layout:
    truth: dict[str, Truth] = {}
    files: dict[str, str | bytes] = {}
    top = "ADE20K_2021_17_01/"
    for split, short in (("training", "train"), ("validation", "val")):
        for group, scene in (("cultural", "art_gallery"), ("urban", "street")):
            for n in range(1, 3):
                below = f"images/ADE/{split}/{group}/{scene}"
                stem = f"ADE_{short}_0000000{n}"
                truth[f"{below}/{stem}.jpg"] = of(
                    scene, split=short, files=[f"{below}/{stem}_seg.png"]
                )
                files[f"{top}{below}/{stem}_seg.png"] = ""
                files[f"{top}{below}/{stem}_parts_1.png"] = ""
                files[f"{top}{below}/{stem}/instance_000_{stem}.png"] = ""
                files[f"{top}{below}/{stem}.json"] = json.dumps(
                    {"annotation": {"filename": f"{stem}.jpg", "scene": [group, scene]}}
                )
    files |= images(top + path for path in truth)
    files[top + "index_ade20k.pkl"] = b"\x80\x04N."
    return Layout(
        "ADE20K in full",
        "https://groups.csail.mit.edu/vision/datasets/ADE20K/",
        files,
        truth,
        "ADE20K_2021_17_01",
    )


def _ade20k_images() -> Layout:
    row = _ade20k_full()
    truth = {path.removeprefix("images/ADE/"): fact for path, fact in row.truth.items()}
    truth = {
        path: fact._replace(files=tuple(p.removeprefix("images/ADE/") for p in fact.files))
        for path, fact in truth.items()
    }
    return Layout(
        "ADE20K in full, its folder of images",
        row.source,
        row.files,
        truth,
        "ADE20K_2021_17_01/images/ADE",
    )


def _pascal_context() -> Layout:
    top = "VOCdevkit/VOC2010/"
    splits = {"2008_000002": "train", "2008_000003": "train", "2008_000007": "val"}
    truth = {
        f"JPEGImages/{stem}.jpg": of(split=split, files=[f"SegmentationClassContext/{stem}.png"])
        for stem, split in splits.items()
    }
    files = images(top + path for path in truth)
    files |= images(top + p for fact in truth.values() for p in fact.files)
    for split in ("train", "val"):
        files[f"{top}ImageSets/SegmentationContext/{split}.txt"] = lines(
            stem for stem, own in splits.items() if own == split
        )
    files[top + "trainval_merged.json"] = json.dumps({"train": [], "val": []})
    return Layout(
        "PASCAL Context as OpenMMLab wants it",
        "mmsegmentation, docs/en/user_guides/2_dataset_prepare.md",
        files,
        truth,
        "VOCdevkit/VOC2010",
    )


def _davis() -> Layout:
    truth: dict[str, Truth] = {}
    videos = {"bear": "train", "bmx-bumps": "train", "blackswan": "val"}
    for video, split in videos.items():
        for n in range(3):
            truth[f"JPEGImages/480p/{video}/0000{n}.jpg"] = of(
                split=split, files=[f"Annotations/480p/{video}/0000{n}.png"]
            )
    files = images(f"DAVIS/{path}" for path in truth)
    files |= images(f"DAVIS/{p}" for fact in truth.values() for p in fact.files)
    for split in ("train", "val"):
        files[f"DAVIS/ImageSets/2017/{split}.txt"] = lines(
            video for video, own in videos.items() if own == split
        )
    files["DAVIS/README.md"] = "# DAVIS 2017\n"
    files["DAVIS/SOURCES.md"] = "# Sources\n"
    return Layout(
        "DAVIS 2017", "https://davischallenge.org/davis2017/code.html", files, truth, "DAVIS"
    )


def _youtube_vos() -> Layout:
    truth: dict[str, Truth] = {}
    meta = {}
    for video in ("003234408d", "0043f083b5"):
        for n in (0, 5, 10):
            truth[f"train/JPEGImages/{video}/{n:05}.jpg"] = of(
                split="train", files=[f"train/Annotations/{video}/{n:05}.png"]
            )
        meta[video] = {
            "objects": {"1": {"category": "penguin", "frames": ["00000", "00005", "00010"]}}
        }
    files = images(f"YouTubeVOS/{path}" for path in truth)
    files |= images(f"YouTubeVOS/{p}" for fact in truth.values() for p in fact.files)
    files["YouTubeVOS/train/meta.json"] = json.dumps({"videos": meta})
    for n in (0, 5):
        truth[f"valid/JPEGImages/0062f687f1/{n:05}.jpg"] = of(
            split="val", files=[] if n else ["valid/Annotations/0062f687f1/00000.png"]
        )
        files[f"YouTubeVOS/valid/JPEGImages/0062f687f1/{n:05}.jpg"] = ""
    files["YouTubeVOS/valid/Annotations/0062f687f1/00000.png"] = ""
    files["YouTubeVOS/valid/meta.json"] = json.dumps({"videos": {"0062f687f1": {"objects": {}}}})
    return Layout("YouTube-VOS", "https://youtube-vos.org/dataset/vos/", files, truth, "YouTubeVOS")


def _supervisely() -> Layout:
    truth: dict[str, Truth] = {}
    files: dict[str, str | bytes] = {}
    top = "Supervisely Person Dataset/"
    for group in ("ds1", "ds2"):
        for n in range(3):
            name = f"pexels-photo-{n}{group}.png"
            truth[f"{group}/img/{name}"] = of(holds=["person_bmp"])
            files[f"{top}{group}/ann/{name}.json"] = json.dumps(
                {
                    "description": "",
                    "tags": [],
                    "size": {"height": 24, "width": 24},
                    "objects": [
                        {
                            "classTitle": "person_bmp",
                            "geometryType": "bitmap",
                            "bitmap": {"data": "eJwBAAD//w==", "origin": [2, 3]},
                            "tags": [],
                        }
                    ],
                }
            )
    files |= images(top + path for path in truth)
    files[top + "meta.json"] = json.dumps(
        {"classes": [{"title": "person_bmp", "shape": "bitmap", "color": "#9E1010"}], "tags": []}
    )
    files[top + "README.md"] = "# Supervisely Person\n"
    return Layout(
        "Supervisely persons, bitmaps in JSON",
        "https://docs.supervisely.com/customization-and-integration/00_ann_format_navi",
        files,
        truth,
        "Supervisely Person Dataset",
    )


def _carvana(table: bool) -> Layout:
    pairs: dict[str, list[str]] = {
        f"train/fff9b3a5373f_{n:02}.jpg": [f"train_masks/fff9b3a5373f_{n:02}_mask.gif"]
        for n in range(1, 5)
    }
    pairs |= {f"test/0004d4463b50_{n:02}.jpg": [] for n in range(1, 4)}
    more: dict[str, str | bytes] = {}
    if table:
        more["carvana/train_masks.csv"] = lines(
            ["img,rle_mask"]
            + [f"fff9b3a5373f_{n:02}.jpg,879386 40 881253 141" for n in range(1, 5)]
        )
        more["carvana/metadata.csv"] = "id,year,make,model\nfff9b3a5373f,2012,Acura,MDX\n"
        more["carvana/sample_submission.csv"] = lines(
            ["img,rle_mask"] + [f"0004d4463b50_{n:02}.jpg,1 1" for n in range(1, 4)]
        )
    return _masked(
        "Carvana" + (" with its tables of runs" if table else ", its folders"),
        "https://www.kaggle.com/c/carvana-image-masking-challenge/data",
        "carvana",
        pairs,
        {"train": "train", "test": "test"},
        more,
    )


def _sun_rgbd() -> Layout:
    truth: dict[str, Truth] = {}
    files: dict[str, str | bytes] = {}
    for sensor, scene in (
        ("kv1/NYUdata", "NYU0001"),
        ("kv1/NYUdata", "NYU0002"),
        ("xtion/sun3ddata", "home_ac_0"),
    ):
        top = f"{sensor}/{scene}"
        name = scene + ".jpg" if scene.startswith("NYU") else "0000103-000003419600.jpg"
        depth = f"{top}/depth/{name[:-4]}.png"
        truth[f"{top}/image/{name}"] = of(files=[depth])
        files |= images([f"SUNRGBD/{depth}", f"SUNRGBD/{top}/depth_bfx/{name[:-4]}.png"])
        files[f"SUNRGBD/{top}/scene.txt"] = "bedroom"
        files[f"SUNRGBD/{top}/intrinsics.txt"] = "518.8 0 325.5\n0 519.4 253.7\n0 0 1\n"
        files[f"SUNRGBD/{top}/seg.mat"] = mat(seglabel=[[0, 1], [1, 0]], names=["bed", "wall"])
        files[f"SUNRGBD/{top}/annotation2Dfinal/index.json"] = json.dumps(
            {"frames": [{"polygon": [{"x": [2, 9], "y": [3, 8], "object": 0}]}]}
        )
    files |= images(f"SUNRGBD/{path}" for path in truth)
    return Layout(
        "SUN RGB-D, a folder for each scene",
        "https://rgbd.cs.princeton.edu",
        files,
        truth,
        "SUNRGBD",
    )


def _nyu_mat() -> Layout:
    return Layout(
        "NYU Depth V2, labeled",
        "https://cs.nyu.edu/~silberman/datasets/nyu_depth_v2.html",
        {
            "nyu/nyu_depth_v2_labeled.mat": b"MATLAB 7.3 MAT-file".ljust(512, b" ") + hdf5(),
            "nyu/splits.mat": mat(trainNdxs=[3, 4], testNdxs=[1, 2]),
        },
        {"nyu/nyu_depth_v2_labeled.mat": of("a label")},
        "nyu",
    )


def _nyu_csv() -> Layout:
    truth: dict[str, Truth] = {}
    files: dict[str, str | bytes] = {}
    for split, short in (("train", "train"), ("test", "test")):
        rows = []
        for n in range(1, 4):
            below = f"data/nyu2_{split}" + ("/bedroom_0001_out" if short == "train" else "")
            stem = f"{n}" if short == "train" else f"0000{n}_colors"
            depth = f"{n}.png" if short == "train" else f"0000{n}_depth.png"
            name = f"{stem}.jpg" if short == "train" else f"{stem}.png"
            truth[f"{below}/{name}"] = of(split=short, files=[f"{below}/{depth}"])
            files[f"nyu/{below}/{depth}"] = ""
            rows.append(f"{below}/{name},{below}/{depth}")
        files[f"nyu/data/nyu2_{split}.csv"] = lines(rows)
    files |= images(f"nyu/{path}" for path in truth)
    return Layout(
        "NYU Depth V2 as Kaggle has it, pairs in a CSV without header",
        "https://www.kaggle.com/datasets/soumikrakshit/nyu-depth-v2",
        files,
        truth,
        "nyu",
    )


def _nyu_csv_names() -> Layout:
    row = _nyu_csv()
    train = {path: fact for path, fact in row.truth.items() if fact.split == "train"}
    files = {path: text for path, text in row.files.items() if "_test" not in path}
    truth = {path: fact._replace(split="") for path, fact in train.items()}
    return Layout(
        "NYU Depth V2, pairs 1.jpg and 1.png",
        row.source,
        {p: t for p, t in files.items() if not p.endswith(".csv")},
        truth,
        "nyu",
    )


def _cvc() -> Layout:
    pairs = {f"PNG/Original/{n}.png": [f"PNG/Ground Truth/{n}.png"] for n in range(1, 6)}
    row = _masked(
        "CVC-ClinicDB, the same in TIF and PNG",
        "https://www.kaggle.com/datasets/balraj98/cvcclinicdb",
        "CVC-ClinicDB",
        pairs,
        None,
        {
            "CVC-ClinicDB/metadata.csv": lines(
                ["frame_id,sequence_id,png_image_path,png_mask_path"]
                + [f"{n},1,PNG/Original/{n}.png,PNG/Ground Truth/{n}.png" for n in range(1, 6)]
            )
        },
    )
    files = dict(row.files)
    files |= images(
        f"CVC-ClinicDB/TIF/{kind}/{n}.tif"
        for kind in ("Original", "Ground Truth")
        for n in range(1, 6)
    )
    return row._replace(files=files)


def _coco_stuff() -> Layout:
    truth: dict[str, Truth] = {}
    for split in ("train2017", "val2017"):
        for n in (9, 25, 30):
            truth[f"images/{split}/{n:012}.jpg"] = of(
                split=split[:-4],
                files=[f"annotations/{split}/{n:012}_labelTrainIds.png"],
            )
    files = images(f"coco_stuff164k/{path}" for path in truth)
    files |= images(f"coco_stuff164k/{p}" for fact in truth.values() for p in fact.files)
    files |= images(
        f"coco_stuff164k/{p.replace('_labelTrainIds', '')}"
        for fact in truth.values()
        for p in fact.files
    )
    return Layout(
        "COCO-Stuff as OpenMMLab converts it, two maps for each image",
        "mmsegmentation, docs/en/user_guides/2_dataset_prepare.md",
        files,
        truth,
        "coco_stuff164k",
    )


def _salient() -> Layout:
    pairs = {f"MSRA-B/{n}.jpg": [f"MSRA-B/{n}.png"] for n in ("0_0_272", "0_0_547", "1_1_9")}
    truth = {
        path.split("/")[1]: of(files=[m.split("/")[1] for m in masks])
        for path, masks in pairs.items()
    }
    files = images(f"MSRA-B/{path}" for path in truth)
    files |= images(f"MSRA-B/{p}" for fact in truth.values() for p in fact.files)
    return Layout(
        "MSRA-B, masks of the same name beside the images",
        "https://mmcheng.net/msra10k/",
        files,
        truth,
        "MSRA-B",
    )


def _duts() -> Layout:
    return _masked(
        "DUTS, images and masks in folders of their own names",
        "http://saliencydetection.net/duts/",
        "DUTS-TR",
        {
            f"DUTS-TR-Image/ILSVRC2012_test_0000000{n}.jpg": [
                f"DUTS-TR-Mask/ILSVRC2012_test_0000000{n}.png"
            ]
            for n in range(1, 5)
        },
    )


def _voc_aug() -> Layout:
    stems = ("2008_000002", "2008_000003", "2008_000007")
    truth = {
        f"dataset/img/{stem}.jpg": of(split="val" if stem.endswith("7") else "train")
        for stem in stems
    }
    files = images(f"benchmark_RELEASE/{path}" for path in truth)
    files |= {
        f"benchmark_RELEASE/dataset/{kind}/{stem}.mat": mat(GTcls=[[0, 1], [1, 0]])
        for kind in ("cls", "inst")
        for stem in stems
    }
    files["benchmark_RELEASE/dataset/train.txt"] = lines(stems[:2])
    files["benchmark_RELEASE/dataset/val.txt"] = lines(stems[2:])
    files["benchmark_RELEASE/README"] = "Semantic Boundaries\n"
    return Layout(
        "SBD, masks in .mat", "torchvision.datasets.SBDataset", files, truth, "benchmark_RELEASE"
    )


LAYOUTS = named(
    "segmentation",
    [
        _drive(),
        _chase(),
        _camvid(),
        _camvid_fastai(),
        _celeba_mask(),
        _levir(True),
        _levir(False),
        _deepglobe(),
        _deepglobe_folder(),
        _kvasir(),
        archived(_kvasir(), "kvasir-seg.zip", "Kvasir-SEG, its zip"),
        _mvtec(),
        archived(_mvtec(), "mvtec_anomaly_detection.tar", "MVTec AD, a tar of all"),
        _visa(),
        _penn_fudan(),
        archived(_penn_fudan(), "PennFudanPed.zip", "Penn-Fudan, its zip"),
        _loveda(True),
        _loveda(False),
        archived(_loveda(False), "Val.zip", "LoveDA, Val.zip"),
        _ade20k_scene(),
        _ade20k_full(),
        _ade20k_images(),
        _pascal_context(),
        _davis(),
        _youtube_vos(),
        _supervisely(),
        _carvana(True),
        _carvana(False),
        _sun_rgbd(),
        _nyu_mat(),
        _nyu_csv(),
        _nyu_csv_names(),
        _cvc(),
        _coco_stuff(),
        _salient(),
        _duts(),
        _voc_aug(),
    ],
)

"""Pairs of images: low and high resolution, blurred and sharp, translated."""

from published.making import images, lines, named, of
from published.row import Layout, Truth


def _pairs(
    name: str, source: str, src: str, pairs: dict[str, list[str]], splits: dict[str, str]
) -> Layout:
    """Return a layout of targets and what they are to be made of."""
    truth: dict[str, Truth] = {}
    for path, found in pairs.items():
        split = next((own for start, own in splits.items() if path.startswith(start)), "")
        truth[path] = of(split=split, files=found)
    others = [path for found in pairs.values() for path in found]
    files = images(f"{src}/{path}" for path in (*truth, *others))
    return Layout(name, source, files, truth, src)


def _div2k() -> Layout:
    pairs: dict[str, list[str]] = {}
    for split, first in (("train", 1), ("valid", 801)):
        for n in range(first, first + 3):
            pairs[f"DIV2K_{split}_HR/{n:04}.png"] = [f"DIV2K_{split}_LR_bicubic/X2/{n:04}x2.png"]
    return _pairs(
        "DIV2K, HR beside LR_bicubic/X2",
        "https://data.vision.ee.ethz.ch/cvl/DIV2K/; tfds div2k",
        "DIV2K",
        pairs,
        {"DIV2K_train": "train", "DIV2K_valid": "val"},
    )


def _div2k_hr() -> Layout:
    truth = {
        f"DIV2K_{split}_HR/{n:04}.png": of(split="val" if split == "valid" else split)
        for split, n in (("train", 1), ("train", 2), ("valid", 801), ("valid", 802))
    }
    return Layout(
        "DIV2K, HR only",
        "https://data.vision.ee.ethz.ch/cvl/DIV2K/",
        images(f"DIV2K/{path}" for path in truth),
        truth,
        "DIV2K",
    )


def _reds() -> Layout:
    return _pairs(
        "REDS, sharp and blurred clips",
        "https://seungjunnah.github.io/Datasets/reds.html",
        "REDS",
        {
            f"{split}/{split}_sharp/{clip}/0000000{n}.png": [
                f"{split}/{split}_blur/{clip}/0000000{n}.png"
            ]
            for split in ("train", "val")
            for clip in ("000", "001")
            for n in range(2)
        },
        {"train": "train", "val": "val"},
    )


def _gopro() -> Layout:
    return _pairs(
        "GoPro, blur, blur_gamma and sharp below each clip",
        "https://seungjunnah.github.io/Datasets/gopro",
        "GOPRO_Large",
        {
            f"{split}/{clip}/sharp/00000{n}.png": [
                f"{split}/{clip}/blur/00000{n}.png",
                f"{split}/{clip}/blur_gamma/00000{n}.png",
            ]
            for split, clip in (
                ("train", "GOPR0372_07_00"),
                ("train", "GOPR0374_11_01"),
                ("test", "GOPR0384_11_00"),
            )
            for n in (1, 2)
        },
        {"train": "train", "test": "test"},
    )


def _rain100() -> Layout:
    return _pairs(
        "Rain100H, rain-001.png beside norain-001.png",
        "https://www.icst.pku.edu.cn/struct/Projects/joint_rain_removal.html",
        "Rain100H",
        {f"norain-00{n}.png": [f"rain-00{n}.png"] for n in range(1, 6)},
        {},
    )


def _rain100_folders() -> Layout:
    return _pairs(
        "Rain100L, folders rain and norain",
        "https://www.icst.pku.edu.cn/struct/Projects/joint_rain_removal.html",
        "Rain100L",
        {
            f"{split}/norain/norain-{n}.png": [f"{split}/rain/norain-{n}.png"]
            for split in ("train", "test")
            for n in range(1, 4)
        },
        {"train": "train", "test": "test"},
    )


def _pix2pix() -> Layout:
    truth = {
        f"{split}/{n}.jpg": of(split=split) for split in ("train", "val", "test") for n in (1, 2)
    }
    return Layout(
        "pix2pix, AB side by side",
        "https://github.com/phillipi/pix2pix#datasets; tfds pix2pix",
        images(f"facades/{path}" for path in truth),
        truth,
        "facades",
    )


def _cyclegan() -> Layout:
    truth = {
        f"{split}{domain}/n0238{n}_{domain}.jpg": of(domain, f"{split}{domain}", split=split)
        for split in ("train", "test")
        for domain in "AB"
        for n in range(3)
    }
    return Layout(
        "CycleGAN, trainA, trainB, testA, testB",
        "https://github.com/junyanz/CycleGAN; tfds cycle_gan",
        images(f"horse2zebra/{path}" for path in truth),
        truth,
        "horse2zebra",
    )


def _sidd() -> Layout:
    scenes = ("0001_001_S6_00100_00060_3200_L", "0002_001_S6_00100_00020_3200_N")
    pairs = {
        f"Data/{scene}/{scene[:4]}_GT_SRGB_01{k}.PNG": [
            f"Data/{scene}/{scene[:4]}_NOISY_SRGB_01{k}.PNG"
        ]
        for scene in scenes
        for k in (0, 1)
    }
    row = _pairs(
        "SIDD, a numbered folder for each scene",
        "https://abdokamel.github.io/sidd/",
        "SIDD_Small_sRGB_Only",
        pairs,
        {},
    )
    files = dict(row.files)
    files["SIDD_Small_sRGB_Only/Scene_Instances.txt"] = lines(scenes)
    files["SIDD_Small_sRGB_Only/ReadMe_sRGB.txt"] = "SIDD\n"
    return row._replace(files=files)


def _ffhq(wrapped: bool) -> Layout:
    top = "images1024x1024/" if wrapped else ""
    truth = {f"{top}{n:02}000/{n:02}00{k}.png": of() for n in (0, 1, 2) for k in range(3)}
    files = images(f"ffhq-dataset/{path}" for path in truth)
    if wrapped:
        files["ffhq-dataset/ffhq-dataset-v2.json"] = "{}"
        files["ffhq-dataset/LICENSE.txt"] = "CC BY-NC-SA 4.0\n"
    return Layout(
        "FFHQ, chunks of a thousand" + (" with its JSON" if wrapped else ""),
        "https://github.com/NVlabs/ffhq-dataset",
        files,
        truth,
        "ffhq-dataset",
    )


def _ffhq_thumbs() -> Layout:
    row = _ffhq(True)
    files = dict(row.files)
    files |= images(f"ffhq-dataset/thumbnails128x128/{path.split('/', 1)[1]}" for path in row.truth)
    return row._replace(name="FFHQ, chunks beside thumbnails128x128", files=files)


def _lol() -> Layout:
    return _pairs(
        "LOL, low and high below our485 and eval15",
        "https://daooshee.github.io/BMVC2018website/",
        "LOLdataset",
        {
            f"{top}/high/{n}.png": [f"{top}/low/{n}.png"]
            for top in ("our485", "eval15")
            for n in (1, 22, 55)
        },
        {"our485": "train", "eval15": "test"},
    )


def _set5() -> Layout:
    return _pairs(
        "Set5, SRF_2 with _HR and _LR beside one another",
        "https://github.com/jbhuang0604/SelfExSR",
        "Set5",
        {
            f"image_SRF_2/img_00{n}_SRF_2_HR.png": [f"image_SRF_2/img_00{n}_SRF_2_LR.png"]
            for n in range(1, 5)
        },
        {},
    )


def _realsr() -> Layout:
    return _pairs(
        "RealSR, HR and LR2 in one folder",
        "https://github.com/csjcai/RealSR",
        "RealSR",
        {
            f"Canon/{split}/2/Canon_00{n}_HR.png": [f"Canon/{split}/2/Canon_00{n}_LR2.png"]
            for split in ("Train", "Test")
            for n in (1, 2, 3)
        },
        {"Canon/Train": "train", "Canon/Test": "test"},
    )


def _dehaze() -> Layout:
    truth: dict[str, Truth] = {}
    for n in (1, 2, 3):
        for k in (1, 2):
            truth[f"hazy/{n}_{k}_0.9.png"] = of(files=[f"clear/{n}.png"])
    files = images(f"ITS/{path}" for path in truth)
    files |= images(f"ITS/clear/{n}.png" for n in (1, 2, 3))
    return Layout(
        "RESIDE ITS, several hazy images for one clear",
        "https://sites.google.com/view/reside-dehaze-datasets",
        files,
        truth,
        "ITS",
    )


LAYOUTS = named(
    "restoration",
    [
        _div2k(),
        _div2k_hr(),
        _reds(),
        _gopro(),
        _rain100(),
        _rain100_folders(),
        _pix2pix(),
        _cyclegan(),
        _sidd(),
        _ffhq(False),
        _ffhq(True),
        _ffhq_thumbs(),
        _lol(),
        _set5(),
        _realsr(),
        _dehaze(),
    ],
)

"""Published layouts as people alter them: converted, sorted, cut down, with images lost."""

from collections.abc import Callable

from layouts.making import images, lines, named, of
from layouts.packed import layouts
from layouts.row import Layout, Truth

_ROWS = {
    name.split(": ", 1)[1]: row
    for group in ("classification", "kaggle", "retrieval", "segmentation")
    for name, row in layouts(group).items()
}


def _lacking(name: str, path: str) -> Layout:
    """Return a layout without one of its images, which lists still name."""
    row = _ROWS[name]
    files = {one: text for one, text in row.files.items() if one != f"{row.src}/{path}"}
    truth = {one: fact for one, fact in row.truth.items() if one != path}
    assert len(files) + 1 == len(row.files)
    return Layout(f"{name}, without one of its images", row.source, files, truth, row.src)


def _more(name: str, path: str, fact: Truth) -> Layout:
    """Return a layout with an image that no list names."""
    row = _ROWS[name]
    files = {**row.files, f"{row.src}/{path}": ""}
    return Layout(
        f"{name}, with an image that no list names",
        row.source,
        files,
        {**row.truth, path: fact},
        row.src,
    )


def _renamed(name: str, what: str, new: Callable[[str], str]) -> Layout:
    """Return a layout whose images have other paths than the lists name."""
    row = _ROWS[name]
    held = {f"{row.src}/{path}" for path in row.truth}
    files = {
        f"{row.src}/{new(path[len(row.src) + 1 :])}" if path in held else path: text
        for path, text in row.files.items()
    }
    truth = {new(path): fact for path, fact in row.truth.items()}
    return Layout(f"{name}, {what}", row.source, files, truth, row.src)


def _kept(path: str, fact: Truth) -> Truth:
    return fact


def _undivided(path: str, fact: Truth) -> Truth:
    return fact._replace(split="")


def _val_unlabelled(path: str, fact: Truth) -> Truth:
    return fact._replace(label=frozenset()) if path.startswith("val/") else fact


def _tested(path: str, fact: Truth) -> Truth:
    return fact if fact.split == "test" else fact._replace(split="")


def _trained(path: str, fact: Truth) -> Truth:
    return fact if fact.split == "train" else fact._replace(split="")


def _without(name: str, *ends: str, left: Callable[[str, Truth], Truth] = _kept) -> Layout:
    """Return a layout without some of its lists; `left` returns the facts that remain."""
    row = _ROWS[name]
    files = {path: text for path, text in row.files.items() if not path.endswith(ends)}
    truth = {path: left(path, fact) for path, fact in row.truth.items()}
    return Layout(f"{name}, without {' and '.join(ends)}", row.source, files, truth, row.src)


def _cut(name: str, end: str, keep: int, what: str) -> Layout:
    """Return a layout whose list has its first lines only."""
    row = _ROWS[name]
    files = dict(row.files)
    (found,) = [path for path in files if path.endswith(end)]
    files[found] = lines(str(files[found]).splitlines()[:keep])
    return Layout(f"{name}, {what}", row.source, files, row.truth, row.src)


def _tiny_sorted() -> Layout:
    row = _ROWS["Tiny ImageNet"]
    names = {
        path: f"val/{next(iter(fact.label))}/{path.rsplit('/', 1)[1]}"
        if path.startswith("val/")
        else path
        for path, fact in row.truth.items()
    }
    return _renamed("Tiny ImageNet", "val sorted into class folders", names.__getitem__)


def _cub_sorted() -> Layout:
    row = _ROWS["CUB-200-2011, the folder itself"]
    names = {
        path: f"{fact.split}/{path.removeprefix('images/')}" for path, fact in row.truth.items()
    }
    return _renamed(
        "CUB-200-2011, the folder itself", "sorted into train and test", names.__getitem__
    )


def _cifar_kaggle() -> Layout:
    kinds = ("frog", "truck", "truck", "deer", "automobile", "bird")
    truth = {f"train/{n}.png": of(kind, split="train") for n, kind in enumerate(kinds, 1)}
    truth |= {f"test/{n}.png": of(split="test") for n in range(1, 5)}
    files = images(f"cifar-10/{path}" for path in truth)
    files["cifar-10/trainLabels.csv"] = lines(
        ["id,label"] + [f"{n},{kind}" for n, kind in enumerate(kinds, 1)]
    )
    files["cifar-10/sampleSubmission.csv"] = lines(["id,label"] + [f"{n},cat" for n in range(1, 5)])
    return Layout(
        "CIFAR-10 as Kaggle has it, the same numbers in train and test",
        "https://www.kaggle.com/c/cifar-10/data",
        files,
        truth,
        "cifar-10",
    )


def _cifar_png() -> Layout:
    truth = {
        f"{split}/{kind}/{n:04}.png": of(kind, split=split)
        for split in ("train", "test")
        for kind in ("airplane", "truck")
        for n in range(1, 4)
    }
    files = images(f"cifar10/{path}" for path in truth)
    files["cifar10/labels.txt"] = lines(["airplane", "truck"])
    return Layout(
        "CIFAR-10 in PNG, by fastai",
        "https://docs.fast.ai/data.external.html, URLs.CIFAR",
        files,
        truth,
        "cifar10",
    )


def _mnist_png() -> Layout:
    truth = {
        f"{split}/{digit}/{n}.png": of(str(digit), split=part)
        for split, part in (("training", "train"), ("testing", "test"))
        for digit in (0, 3, 7)
        for n in (1, 21)
    }
    return Layout(
        "MNIST in PNG, by fastai",
        "https://docs.fast.ai/data.external.html, URLs.MNIST",
        images(f"mnist_png/{path}" for path in truth),
        truth,
        "mnist_png",
    )


def _imagenette() -> Layout:
    truth: dict[str, Truth] = {}
    rows = ["path,noisy_labels_0,noisy_labels_1,noisy_labels_5,is_valid"]
    for split in ("train", "val"):
        for n, wnid in enumerate(("n01440764", "n02979186")):
            for k in range(3):
                path = f"{split}/{wnid}/{wnid}_{n}{k}.JPEG"
                truth[path] = of(wnid, split=split)
                other = "n02979186" if k == 0 else wnid
                rows.append(f"{path},{wnid},{wnid},{other},{split == 'val'}")
    files = images(f"imagenette2/{path}" for path in truth)
    files["imagenette2/noisy_imagenette.csv"] = lines(rows)
    return Layout(
        "Imagenette with its table of noisy labels",
        "https://github.com/fastai/imagenette",
        files,
        truth,
        "imagenette2",
    )


def _pascal_2007_fastai() -> Layout:
    truth: dict[str, Truth] = {}
    rows = ["fname,labels,is_valid"]
    for n, (labels, valid) in enumerate(
        (
            ("chair", True),
            ("car", True),
            ("horse person", True),
            ("car", False),
            ("bicycle person", False),
            ("person", False),
        ),
        1,
    ):
        truth[f"train/{n:06}.jpg"] = of(labels=labels.split(), split="val" if valid else "train")
        rows.append(f"{n:06}.jpg,{labels},{valid}")
    files = images(f"pascal_2007/{path}" for path in truth)
    files["pascal_2007/train.csv"] = lines(rows)
    return Layout(
        "PASCAL 2007 as fastai has it, several labels and is_valid",
        "https://docs.fast.ai/tutorial.vision.html#multi-label-classification",
        files,
        truth,
        "pascal_2007",
    )


def _oxford_sorted() -> Layout:
    row = _ROWS["Oxford Flowers 102"]
    return _renamed(
        "Oxford Flowers 102",
        "sorted into class folders",
        lambda path: f"{sorted(row.truth[path].label)[0]}/{path.rsplit('/', 1)[1]}",
    )


LAYOUTS = named(
    "altered",
    [
        _lacking(
            "CUB-200-2011",
            "CUB_200_2011/images/001.Black_footed_Albatross/Black_footed_Albatross_0002_796102.jpg",
        ),
        _lacking("Food-101", "images/apple_pie/1014775.jpg"),
        _lacking("FGVC-Aircraft", "data/images/0037511.jpg"),
        _lacking("Tiny ImageNet", "val/images/val_1.JPEG"),
        _lacking("Oxford-IIIT Pet with trimaps", "images/american_bulldog_2.jpg"),
        _lacking("iNaturalist 2018 with its JSON", "train_val2018/Amphibia/0/00000001.jpg"),
        _lacking("CelebA with its five lists", "img_align_celeba/000003.jpg"),
        _lacking("Places365, as torchvision unpacks it", "val_256/Places365_val_00000002.jpg"),
        _lacking("Oxford Flowers 102", "jpg/image_00003.jpg"),
        _more(
            "CUB-200-2011, the folder itself",
            "images/001.Black_footed_Albatross/new.jpg",
            of("001.Black_footed_Albatross", "Black_footed_Albatross"),
        ),
        _more("Food-101", "images/apple_pie/1.jpg", of("apple_pie", "Apple pie")),
        _more("FGVC-Aircraft", "data/images/9999999.jpg", of()),
        _more("Tiny ImageNet", "val/images/val_99.JPEG", of(split="val")),
        _more("CelebA with its five lists", "img_align_celeba/000099.jpg", of()),
        _more("Oxford Flowers 102", "jpg/image_00099.jpg", of()),
        _more(
            "DTD with ten partitions of the same images",
            "images/banded/banded_9999.jpg",
            of("banded"),
        ),
        _more("iNaturalist 2018 with its JSON", "train_val2018/Amphibia/0/ffff.jpg", of()),
        _renamed(
            "CelebA with its five lists", "images in PNG", lambda path: path.replace(".jpg", ".png")
        ),
        _renamed(
            "GTSRB with its CSV files of semicolons",
            "images in PNG",
            lambda path: path.replace(".ppm", ".png"),
        ),
        _renamed("FGVC-Aircraft", "images in PNG", lambda path: path.replace(".jpg", ".png")),
        _renamed(
            "CUB-200-2011, the folder itself",
            "images in PNG",
            lambda path: path.replace(".jpg", ".png"),
        ),
        _renamed("Food-101", "images in WebP", lambda path: path.replace(".jpg", ".webp")),
        _renamed(
            "CUB-200-2011, the folder itself",
            "images in images_224",
            lambda path: path.replace("images/", "images_224/"),
        ),
        _renamed(
            "Food-101", "images in a folder train", lambda path: path.replace("images/", "train/")
        ),
        _without("CUB-200-2011, the folder itself", "train_test_split.txt", left=_undivided),
        _without("FGVC-Aircraft", "images_variant_train.txt"),
        _without("Tiny ImageNet", "val_annotations.txt", left=_val_unlabelled),
        _without("Tiny ImageNet", "wnids.txt", "words.txt"),
        _without("Oxford Flowers 102", "setid.mat"),
        _without("Oxford Flowers 102", "imagelabels.mat"),
        _without("Oxford-IIIT Pet with trimaps", "list.txt"),
        _without("Oxford-IIIT Pet with trimaps", "trainval.txt", left=_tested),
        _without("CelebA with its five lists", "list_eval_partition.txt", left=_undivided),
        _without("Food-101", "train.txt", "test.txt"),
        _without("Food-101", "test.txt", "test.json", left=_trained),
        _without("iNaturalist 2018 with its JSON", "val2018.json"),
        _without("GTSRB with its CSV files of semicolons", "GT-final_test.csv"),
        _cut("CUB-200-2011, the folder itself", "/image_class_labels.txt", 5, "a list cut short"),
        _cut("CUB-200-2011, the folder itself", "/train_test_split.txt", 5, "splits cut short"),
        _cut("Tiny ImageNet", "val_annotations.txt", 2, "val_annotations.txt cut short"),
        _cut("CelebA with its five lists", "list_attr_celeba.txt", 6, "attributes cut short"),
        _cut("Food-101", "meta/train.txt", 3, "train.txt cut short"),
        _cut("FGVC-Aircraft", "images_variant_train.txt", 1, "a list cut short"),
        _cut("Places365, as torchvision unpacks it", "places365_val.txt", 1, "val cut short"),
        _cut("MS-Celeb with a clean list", "clean_list.txt", 5, "its list cut short"),
        _tiny_sorted(),
        _cub_sorted(),
        _oxford_sorted(),
        _cifar_kaggle(),
        _cifar_png(),
        _mnist_png(),
        _imagenette(),
        _pascal_2007_fastai(),
    ],
)

"""Faces, products and attributes: lists of pairs, identities, boxes and partitions."""

from published.making import archived, images, lines, named, of
from published.row import Layout, Truth


def _products() -> Layout:
    top = "Stanford_Online_Products/"
    truth: dict[str, Truth] = {}
    train, test = ["image_id class_id super_class_id path"], []
    test = list(train)
    listed: dict[str, list[str]] = {}
    number = 0
    for s, kind in enumerate(("bicycle", "chair"), 1):
        for product in range(3):
            for n in range(2):
                number += 1
                identity = 2 * product + s
                path = f"{kind}_final/11108512287{identity}_{n}.JPG"
                split = "test" if product == 2 else "train"
                truth[path] = of(
                    str(identity),
                    f"11108512287{identity}",
                    kind,
                    f"{kind}_final",
                    str(s),
                    split=split,
                )
                (test if split == "test" else train).append(f"{number} {identity} {s} {path}")
                listed.setdefault(kind, []).append(f"11108512287{identity}_{n}.JPG\thttp://x/y")
    files = images(top + path for path in truth)
    files[top + "Ebay_train.txt"] = lines(train)
    files[top + "Ebay_test.txt"] = lines(test)
    files[top + "Ebay_info.txt"] = lines([train[0], *train[1:], *test[1:]])
    files |= {f"{top}{kind}_final.txt": lines(rows) for kind, rows in listed.items()}
    return Layout(
        "Stanford Online Products",
        "https://cvgl.stanford.edu/projects/lifted_struct/",
        files,
        truth,
        "Stanford_Online_Products",
    )


def _deepfashion() -> Layout:
    rows = [
        ("Sheer_Pleated-Front_Blouse", 3, "train"),
        ("Single-Button_Blazer", 2, "val"),
        ("Loose_Knit_Tank", 18, "test"),
    ]
    names = {3: "Blouse", 2: "Blazer", 18: "Tank"}
    truth: dict[str, Truth] = {}
    category, box, part = [], [], []
    for folder, number, split in rows:
        for n in range(1, 4):
            path = f"img/{folder}/img_0000000{n}.jpg"
            truth[path] = of(names[number], str(number), split=split)
            category.append(f"{path}{' ' * 20}{number}")
            box.append(f"{path}{' ' * 20}002 003 020 021")
            part.append(f"{path}{' ' * 20}{split}")
    files = images(f"deepfashion/{path}" for path in truth)
    top = "deepfashion/Anno/"
    files[top + "list_category_img.txt"] = lines(["9", "image_name  category_label", *category])
    files[top + "list_category_cloth.txt"] = lines(
        ["3", "category_name  category_type"] + [f"{name}   1" for name in names.values()]
    )
    files[top + "list_bbox.txt"] = lines(["9", "image_name  x_1  y_1  x_2  y_2", *box])
    files["deepfashion/Eval/list_eval_partition.txt"] = lines(
        ["9", "image_name  evaluation_status", *part]
    )
    return Layout(
        "DeepFashion, category and attribute prediction",
        "https://mmlab.ie.cuhk.edu.hk/projects/DeepFashion/AttributePrediction.html",
        files,
        truth,
        "deepfashion",
    )


def _deepfashion_inshop() -> Layout:
    truth: dict[str, Truth] = {}
    part = []
    for identity, split in (("id_00000002", "train"), ("id_00000080", "query")):
        for n in ("01_1_front", "02_2_side", "03_4_full"):
            path = f"img/WOMEN/Blouses_Shirts/{identity}/{n}.jpg"
            truth[path] = of(identity, split=split)
            part.append(f"{path}    {identity} {split}")
    truth["img/WOMEN/Blouses_Shirts/id_00000080/04_7_additional.jpg"] = of(
        "id_00000080", split="gallery"
    )
    part.append("img/WOMEN/Blouses_Shirts/id_00000080/04_7_additional.jpg  id_00000080 gallery")
    files = images(f"inshop/{path}" for path in truth)
    files["inshop/list_eval_partition.txt"] = lines(
        [str(len(part)), "image_name item_id evaluation_status", *part]
    )
    return Layout(
        "DeepFashion, in-shop retrieval",
        "https://mmlab.ie.cuhk.edu.hk/projects/DeepFashion/InShopRetrieval.html",
        files,
        truth,
        "inshop",
    )


_ATTRIBUTES = ("5_o_Clock_Shadow", "Arched_Eyebrows", "Attractive", "Male", "Young")


def _celeba(attributes: bool, folder: str = "img_align_celeba") -> Layout:
    truth: dict[str, Truth] = {}
    marks: list[str] = []
    part, identity, box, landmarks = [], [], [], []
    for n in range(1, 9):
        name = f"{n:06}.jpg"
        has = [attribute for k, attribute in enumerate(_ATTRIBUTES) if (n * 7 + k * n) % 3 == 0]
        split = ("train", "train", "val", "test")[n % 4]
        truth[f"{folder}/{name}"] = of(
            *([] if attributes else [str(2880 + n // 3)]),
            holds=has if attributes else (),
            split=split,
        )
        marks.append(f"{name} " + " ".join(" 1" if a in has else "-1" for a in _ATTRIBUTES))
        part.append(f"{name} {('train', 'val', 'test').index(split)}")
        identity.append(f"{name} {2880 + n // 3}")
        box.append(f"{name}    2   3  16  17")
        landmarks.append(f"{name} 6  9  10  8   7  7  15   6  13  12")
    files = images(f"celeba/{path}" for path in truth)
    files["celeba/list_eval_partition.txt"] = lines(part)
    files["celeba/identity_CelebA.txt"] = lines(identity)
    if attributes:
        files["celeba/list_attr_celeba.txt"] = lines(["8", " ".join(_ATTRIBUTES) + " ", *marks])
        files["celeba/list_bbox_celeba.txt"] = lines(["8", "image_id x_1 y_1 width height", *box])
        files["celeba/list_landmarks_align_celeba.txt"] = lines(
            ["8", "lefteye_x lefteye_y righteye_x righteye_y nose_x nose_y", *landmarks]
        )
    return Layout(
        "CelebA with its five lists" if attributes else "CelebA with identities and partition",
        "torchvision.datasets.CelebA",
        files,
        truth,
        "celeba",
    )


def _celeba_kaggle() -> Layout:
    row = _celeba(True, "img_align_celeba/img_align_celeba")
    attributes = ["image_id," + ",".join(_ATTRIBUTES)]
    part = ["image_id,partition"]
    box = ["image_id,x_1,y_1,width,height"]
    for path, fact in row.truth.items():
        name = path.rsplit("/", 1)[1]
        attributes.append(
            f"{name}," + ",".join("1" if a in fact.holds else "-1" for a in _ATTRIBUTES)
        )
        part.append(f"{name},{('train', 'val', 'test').index(fact.split)}")
        box.append(f"{name},2,3,16,17")
    files = {path: text for path, text in row.files.items() if path.endswith(".jpg")}
    files["celeba/list_attr_celeba.csv"] = lines(attributes)
    files["celeba/list_eval_partition.csv"] = lines(part)
    files["celeba/list_bbox_celeba.csv"] = lines(box)
    return Layout(
        "CelebA as Kaggle has it, in CSV",
        "https://www.kaggle.com/datasets/jessicali9530/celeba-dataset",
        files,
        row.truth,
        "celeba",
    )


def _celeba_attributes_csv() -> Layout:
    row = _celeba_kaggle()
    files = {
        path: text
        for path, text in row.files.items()
        if path.endswith((".jpg", "list_attr_celeba.csv"))
    }
    truth = {path: fact._replace(split="") for path, fact in row.truth.items()}
    return Layout("CelebA, a table of 1 and -1 only", row.source, files, truth, "celeba")


def _lfw(lists: bool) -> Layout:
    people = {"Aaron_Eckhart": 1, "Aaron_Peirsol": 4, "Zoran_Djindjic": 3}
    folder = "lfw-deepfunneled" if lists else "lfw"
    truth: dict[str, Truth] = {}
    for person, count in people.items():
        for n in range(1, count + 1):
            truth[f"{folder}/{person}/{person}_{n:04}.jpg"] = of(person)
    files = images(f"lfw-py/{path}" for path in truth)
    if lists:
        files["lfw-py/pairs.txt"] = (
            "1\t2\nAaron_Peirsol\t1\t2\nZoran_Djindjic\t1\t3\n"
            "Aaron_Eckhart\t1\tAaron_Peirsol\t3\nAaron_Eckhart\t1\tZoran_Djindjic\t2\n"
        )
        files["lfw-py/people.txt"] = lines(
            ["1", "3"] + [f"{person}\t{count}" for person, count in people.items()]
        )
        files["lfw-py/peopleDevTrain.txt"] = "2\nAaron_Eckhart\t1\nAaron_Peirsol\t4\n"
        files["lfw-py/peopleDevTest.txt"] = "1\nZoran_Djindjic\t3\n"
        files["lfw-py/lfw-names.txt"] = lines(
            f"{person}\t{count}" for person, count in people.items()
        )
    return Layout(
        "LFW, deep funneled, with its lists of pairs and people" if lists else "LFW",
        "torchvision.datasets.LFWPeople, LFWPairs",
        files,
        truth,
        "lfw-py",
    )


def _lfw_kaggle() -> Layout:
    row = _lfw(True)
    truth = {f"lfw-deepfunneled/{path}": fact for path, fact in row.truth.items()}
    files = images(f"lfw/{path}" for path in truth)
    files["lfw/pairs.csv"] = "name,imagenum1,imagenum2,\nAaron_Peirsol,1,2,\nZoran_Djindjic,1,3,\n"
    files["lfw/people.csv"] = "name,images\nAaron_Eckhart,1\nAaron_Peirsol,4\n"
    files["lfw/lfw_allnames.csv"] = (
        "name,images\nAaron_Eckhart,1\nAaron_Peirsol,4\nZoran_Djindjic,3\n"
    )
    files["lfw/peopleDevTrain.csv"] = "name,images\nAaron_Eckhart,1\nAaron_Peirsol,4\n"
    files["lfw/matchpairsDevTest.csv"] = "name,imagenum1,imagenum2\nZoran_Djindjic,1,2\n"
    files["lfw/mismatchpairsDevTest.csv"] = (
        "name,imagenum1,name,imagenum2\nZoran_Djindjic,1,Aaron_Eckhart,1\n"
    )
    return Layout(
        "LFW as Kaggle has it",
        "https://www.kaggle.com/datasets/jessicali9530/lfw-dataset",
        files,
        truth,
        "lfw",
    )


def _vggface2() -> Layout:
    truth: dict[str, Truth] = {}
    boxes: dict[str, list[str]] = {"train": ["NAME_ID,X,Y,W,H"], "test": ["NAME_ID,X,Y,W,H"]}
    listed: dict[str, list[str]] = {"train": [], "test": []}
    for person, split in (("n000001", "test"), ("n000002", "train"), ("n000003", "train")):
        for n in range(1, 4):
            truth[f"{split}/{person}/000{n}_01.jpg"] = of(person, split=split)
            boxes[split].append(f'"{person}/000{n}_01",2,3,15,16')
            listed[split].append(f"{person}/000{n}_01.jpg")
    files = images(f"vggface2/{path}" for path in truth)
    for split in ("train", "test"):
        files[f"vggface2/bb_landmark/loose_bb_{split}.csv"] = lines(boxes[split])
        files[f"vggface2/{split}_list.txt"] = lines(listed[split])
    files["vggface2/identity_meta.csv"] = (
        "Class_ID, Name, Sample_Num, Flag, Gender\n"
        'n000001, "14th_Dalai_Lama", 3, 0, m\nn000002, "A_Fine_Frenzy", 3, 1, f\n'
        'n000003, "A._A._Gill", 3, 1, m\n'
    )
    return Layout(
        "VGGFace2 with boxes in bb_landmark",
        "https://github.com/ox-vgg/vgg_face2",
        files,
        truth,
        "vggface2",
    )


def _msceleb() -> Layout:
    truth: dict[str, Truth] = {}
    listed = []
    for c, mid in enumerate(("m.0107_f", "m.010_vz", "m.011_wh")):
        for n in range(3):
            path = f"{mid}/{10 * c + n}-FaceId-0.jpg"
            truth[f"imgs/{path}"] = of(mid, str(c))
            listed.append(f"imgs/{path} {c}")
    files = images(f"ms1m/{path}" for path in truth)
    files["ms1m/MS-Celeb-1M_clean_list.txt"] = lines(listed)
    files["ms1m/Top1M_MidList.Name.tsv"] = (
        'm.0107_f\t"Ana Example"@en\nm.010_vz\t"Ben Example"@en\n'
    )
    return Layout(
        "MS-Celeb with a clean list",
        "https://github.com/AlfredXiangWu/face_verification_experiment",
        files,
        truth,
        "ms1m",
    )


def _market() -> Layout:
    truth: dict[str, Truth] = {}
    for folder, split, people in (
        ("bounding_box_train", "train", ("0002", "0007")),
        ("bounding_box_test", "test", ("0000", "0001")),
        ("query", "query", ("0001",)),
    ):
        for person in people:
            for n in range(1, 3):
                truth[f"{folder}/{person}_c1s1_00{n}51_0{n}.jpg"] = of(person, split=split)
    top = "Market-1501-v15.09.15/"
    files = images(top + path for path in truth)
    files[top + "readme.txt"] = "0002_c1s1_000451_03.jpg: 0002 is the identity\n"
    return Layout(
        "Market-1501, identities in the names of files",
        "torchreid.data.datasets.Market1501",
        files,
        truth,
        "Market-1501-v15.09.15",
    )


def _nus_wide() -> Layout:
    concepts = ("airport", "animal", "sky")
    names = [f"actor\\000{n}_21244941{n}.jpg" for n in range(1, 7)]
    marks = {
        "airport": [0, 0, 0, 1, 0, 0],
        "animal": [1, 0, 0, 0, 1, 0],
        "sky": [1, 1, 0, 1, 0, 0],
    }
    truth = {
        "Flickr/" + name.replace("\\", "/"): of(labels=[c for c in concepts if marks[c][n]])
        for n, name in enumerate(names)
    }
    files = images(f"NUS-WIDE/{path}" for path in truth)
    files["NUS-WIDE/ImageList/Imagelist.txt"] = lines(names, "\r\n")
    files["NUS-WIDE/ImageList/TrainImagelist.txt"] = lines(names[:4], "\r\n")
    files["NUS-WIDE/ImageList/TestImagelist.txt"] = lines(names[4:], "\r\n")
    files["NUS-WIDE/ConceptsList/Concepts81.txt"] = lines(concepts)
    for concept, flags in marks.items():
        files[f"NUS-WIDE/Groundtruth/AllLabels/Labels_{concept}.txt"] = lines(map(str, flags))
    truth = {
        path: fact._replace(split="train" if n < 4 else "test")
        for n, (path, fact) in enumerate(truth.items())
    }
    return Layout(
        "NUS-WIDE, a file of 0 and 1 for each concept",
        "https://lms.comp.nus.edu.sg/wp-content/uploads/2019/research/nuswide/NUS-WIDE.html",
        files,
        truth,
        "NUS-WIDE",
    )


def _mit_states() -> Layout:
    kinds = ("ancient building", "adj aluminum", "ripe tomato", "unripe tomato")
    top = "release_dataset/"
    truth = {f"images/{k}/image_000{n}.jpg": of(k) for k in kinds for n in range(3)}
    files = images(top + path for path in truth)
    files[top + "adj_ants.csv"] = "ancient,modern\nripe,unripe\n"
    files[top + "meta_info/README.txt"] = "adjective noun\n"
    files[top + "compositional-split-natural/train_pairs.txt"] = "ancient building\nripe tomato\n"
    files[top + "compositional-split-natural/test_pairs.txt"] = "unripe tomato\n"
    return Layout(
        "MIT-States with pairs of adjective and noun",
        "http://web.mit.edu/phillipi/Public/states_and_transformations/index.html",
        files,
        truth,
        "release_dataset",
    )


def _utkface() -> Layout:
    stem = "2017010918092"
    kinds = ("100_1_0", "26_0_1", "1_0_2", "35_1_4")
    truth = {f"{kind}_{stem}{n}.jpg.chip.jpg": of() for n, kind in enumerate(kinds)}
    return Layout(
        "UTKFace, age, gender and race in the names of files",
        "https://susanqq.github.io/UTKFace/",
        images(f"UTKFace/{path}" for path in truth),
        truth,
        "UTKFace",
    )


def _coil() -> Layout:
    truth = {f"obj{o}__{n}.png": of(f"obj{o}") for o in (1, 2, 10) for n in range(0, 15, 5)}
    return Layout(
        "COIL-100, classes in the names of files",
        "https://www.cs.columbia.edu/CAVE/software/softlib/coil-100.php; tfds coil100",
        images(f"coil-100/{path}" for path in truth),
        truth,
        "coil-100",
    )


LAYOUTS = named(
    "retrieval",
    [
        _products(),
        _deepfashion(),
        _deepfashion_inshop(),
        _celeba(True),
        _celeba(False),
        _celeba_kaggle(),
        _celeba_attributes_csv(),
        _lfw(False),
        archived(_lfw(False), "lfw.tgz", "LFW, its tgz"),
        _lfw(True),
        _lfw_kaggle(),
        _vggface2(),
        _msceleb(),
        _market(),
        _nus_wide(),
        _mit_states(),
        _utkface(),
        _coil(),
    ],
)

"""Radiographs, fundi and skin: tables of findings, paths with patients and studies."""

from published.images import picture
from published.making import images, lines, named, of
from published.row import Layout, Truth


def _chestxray14(listed: bool = True) -> Layout:
    rows = [
        ("00000001_000.png", "Cardiomegaly"),
        ("00000001_001.png", "Cardiomegaly|Emphysema"),
        ("00000001_002.png", "Cardiomegaly|Effusion"),
        ("00000002_000.png", "No Finding"),
        ("00000003_000.png", "Hernia"),
        ("00000003_001.png", "Hernia|Infiltration"),
        ("00000004_000.png", "Mass|Nodule"),
        ("00000005_000.png", "No Finding"),
    ]
    truth: dict[str, Truth] = {}
    table = [
        "Image Index,Finding Labels,Follow-up #,Patient ID,Patient Age,Patient Gender,"
        "View Position,OriginalImage[Width,Height],OriginalImagePixelSpacing[x,y],"
    ]
    for n, (name, text) in enumerate(rows):
        split = ("test" if n % 3 == 2 else "trainval") if listed else ""
        truth[f"images_00{1 + n // 4}/images/{name}"] = of(labels=text.split("|"), split=split)
        table.append(f"{name},{text},{n},{n // 3},58,M,PA,2682,2749,0.143,0.143,")
    files = images(f"chestxray/{path}" for path in truth)
    files["chestxray/Data_Entry_2017.csv"] = lines(table)
    files["chestxray/BBox_List_2017.csv"] = (
        'Image Index,Finding Label,"Bbox [x,y,w,h]",,,\n'
        "00000003_000.png,Hernia,2.5,3.5,10.25,11.5\n"
    )
    if listed:
        for name, split in (("train_val_list.txt", "trainval"), ("test_list.txt", "test")):
            files[f"chestxray/{name}"] = lines(
                path.rsplit("/", 1)[1] for path, fact in truth.items() if fact.split == split
            )
    files["chestxray/FAQ_CHESTXRAY.pdf"] = b"%PDF-1.4\n"
    files["chestxray/README_CHESTXRAY.pdf"] = b"%PDF-1.4\n"
    return Layout(
        "NIH ChestX-ray14" + ("" if listed else ", a sample without lists"),
        "https://nihcc.app.box.com/v/ChestXray-NIHCC; https://www.kaggle.com/datasets/"
        "nih-chest-xrays/data",
        files,
        truth,
        "chestxray",
    )


def _chexpert() -> Layout:
    findings = ("No Finding", "Cardiomegaly", "Edema", "Pneumonia", "Fracture")
    marks = {
        "train": (
            ("1.0", "", "", "", ""),
            ("", "-1.0", "1.0", "", ""),
            ("", "", "-1.0", "0.0", "1.0"),
        ),
        "valid": (("0.0", "1.0", "0.0", "0.0", "0.0"), ("1.0", "0.0", "0.0", "0.0", "0.0")),
    }
    top = "CheXpert-v1.0-small/"
    head = "Path,Sex,Age,Frontal/Lateral,AP/PA," + ",".join(findings)
    truth: dict[str, Truth] = {}
    files: dict[str, str | bytes] = {}
    for split, rows in marks.items():
        table = [head]
        for n, row in enumerate(rows, 1):
            path = f"{split}/patient0000{n}/study1/view1_frontal.jpg"
            truth[path] = of(
                split="val" if split == "valid" else split,
                holds=[f for f, m in zip(findings, row, strict=True) if m == "1.0"],
            )
            table.append(f"{top}{path},Female,68,Frontal,AP," + ",".join(row))
        files[f"{top}{split}.csv"] = lines(table)
    return Layout(
        "CheXpert, findings of 1, 0, -1 and blank",
        "https://stanfordmlgroup.github.io/competitions/chexpert/",
        files | images(top + path for path in truth),
        truth,
        "CheXpert-v1.0-small",
    )


def _mura() -> Layout:
    top = "MURA-v1.1/"
    truth: dict[str, Truth] = {}
    files: dict[str, str | bytes] = {}
    for split in ("train", "valid"):
        paths, studies = [], []
        for p, (bone, kind) in enumerate(
            (
                ("XR_ELBOW", "positive"),
                ("XR_ELBOW", "negative"),
                ("XR_HAND", "positive"),
                ("XR_HAND", "negative"),
            )
        ):
            study = f"{split}/{bone}/patient0001{p}/study1_{kind}"
            for n in (1, 2):
                truth[f"{study}/image{n}.png"] = of(
                    kind,
                    str(int(kind == "positive")),
                    f"study1_{kind}",
                    split="val" if split == "valid" else split,
                )
                paths.append(f"{top}{study}/image{n}.png")
            studies.append(f"{top}{study}/,{int(kind == 'positive')}")
        files[f"{top}{split}_image_paths.csv"] = lines(paths)
        files[f"{top}{split}_labeled_studies.csv"] = lines(studies)
    return Layout(
        "MURA, labels of studies",
        "https://stanfordmlgroup.github.io/competitions/mura/",
        files | images(top + path for path in truth),
        truth,
        "MURA-v1.1",
    )


def _isic2018() -> Layout:
    kinds = ("MEL", "NV", "BCC", "AKIEC", "BKL", "DF", "VASC")
    marks = (1, 0, 1, 4, 1, 2)
    folder = "ISIC2018_Task3_Training_Input"
    truth = {
        f"{folder}/ISIC_002430{n}.jpg": of(kinds[m], split="train") for n, m in enumerate(marks)
    }
    files = images(f"isic/{path}" for path in truth)
    files["isic/ISIC2018_Task3_Training_GroundTruth/ISIC2018_Task3_Training_GroundTruth.csv"] = (
        lines(
            ["image," + ",".join(kinds)]
            + [
                f"ISIC_002430{n}," + ",".join("1.0" if k == m else "0.0" for k in range(7))
                for n, m in enumerate(marks)
            ]
        )
    )
    files[f"isic/{folder}/ATTRIBUTION.txt"] = "Attribution\n"
    files[f"isic/{folder}/LICENSE.txt"] = "CC-BY-NC\n"
    return Layout(
        "ISIC 2018 task 3, a column of 1.0 and 0.0 for each class",
        "https://challenge.isic-archive.com/data/#2018",
        files,
        truth,
        "isic",
    )


def _isic2019() -> Layout:
    kinds = ("MEL", "NV", "BCC", "UNK")
    marks = (1, 0, 2, 1)
    folder = "ISIC_2019_Training_Input/ISIC_2019_Training_Input"
    truth = {
        f"{folder}/ISIC_000000{n}{'_downsampled' if n % 2 else ''}.jpg": of(kinds[m])
        for n, m in enumerate(marks)
    }
    stems = [path.rsplit("/", 1)[1][:-4] for path in truth]
    files = images(f"isic/{path}" for path in truth)
    files["isic/ISIC_2019_Training_GroundTruth.csv"] = lines(
        ["image," + ",".join(kinds)]
        + [
            f"{stem}," + ",".join("1.0" if k == m else "0.0" for k in range(4))
            for stem, m in zip(stems, marks, strict=True)
        ]
    )
    files["isic/ISIC_2019_Training_Metadata.csv"] = lines(
        ["image,age_approx,anatom_site_general,lesion_id,sex"]
        + [f"{stem},55.0,anterior torso,,female" for stem in stems]
    )
    return Layout(
        "ISIC 2019 with its metadata",
        "https://challenge.isic-archive.com/data/#2019",
        files,
        truth,
        "isic",
    )


def _isic_segmentation() -> Layout:
    truth = {
        f"ISIC2018_Task1-2_Training_Input/ISIC_000000{n}.jpg": of(
            files=[f"ISIC2018_Task1_Training_GroundTruth/ISIC_000000{n}_segmentation.png"]
        )
        for n in range(4)
    }
    files = images(f"isic/{path}" for path in truth)
    files |= images(f"isic/{path}" for fact in truth.values() for path in fact.files)
    files["isic/ISIC2018_Task1-2_Training_Input/LICENSE.txt"] = "CC-0\n"
    return Layout(
        "ISIC 2018 task 1, masks in a folder of their own",
        "https://challenge.isic-archive.com/data/#2018",
        files,
        truth,
        "isic",
    )


def _ham10000(pixels: bool) -> Layout:
    rows = [
        ("ISIC_0027419", "bkl"),
        ("ISIC_0025030", "bkl"),
        ("ISIC_0026769", "nv"),
        ("ISIC_0025661", "mel"),
        ("ISIC_0031633", "nv"),
        ("ISIC_0027850", "df"),
    ]
    truth = {
        f"HAM10000_images_part_{1 + n // 3}/{name}.jpg": of(kind)
        for n, (name, kind) in enumerate(rows)
    }
    files = images(f"ham/{path}" for path in truth)
    files["ham/HAM10000_metadata.csv"] = lines(
        ["lesion_id,image_id,dx,dx_type,age,sex,localization"]
        + [f"HAM_000{n},{name},{kind},histo,80.0,male,scalp" for n, (name, kind) in enumerate(rows)]
    )
    if pixels:
        head = ",".join(f"pixel{n:04}" for n in range(64)) + ",label"
        files["ham/hmnist_8_8_L.csv"] = lines(
            [head] + [",".join(str(n + k) for k in range(64)) + f",{n % 4}" for n in range(6)]
        )
    return Layout(
        "HAM10000" + (" as Kaggle has it, with tables of pixels" if pixels else ""),
        "https://doi.org/10.7910/DVN/DBW86T"
        if not pixels
        else "https://www.kaggle.com/datasets/kmader/skin-cancer-mnist-ham10000",
        files,
        truth,
        "ham",
    )


def _kermany() -> Layout:
    truth = {
        f"{split}/{kind}/{kind}-{n}.jpeg": of(kind, split=split)
        for split in ("train", "val", "test")
        for kind in ("NORMAL", "PNEUMONIA")
        for n in range(2)
    }
    files: dict[str, str | bytes] = {}
    for path in truth:
        data = picture(path)
        files[f"chest_xray/{path}"] = files[f"chest_xray/chest_xray/{path}"] = data
        files[f"chest_xray/__MACOSX/chest_xray/{path.rsplit('/', 1)[0]}/._x.jpeg"] = b"\0\5\x16\7"
    return Layout(
        "chest_xray, with the nested copy of Kaggle's zip",
        "https://www.kaggle.com/datasets/paultimothymooney/chest-xray-pneumonia",
        files,
        truth,
        "chest_xray",
    )


def _busi() -> Layout:
    truth = {
        f"{kind}/{kind} ({n}).png": of(kind, files=[f"{kind}/{kind} ({n})_mask.png"])
        for kind in ("benign", "malignant", "normal")
        for n in range(1, 4)
    }
    files = images(f"Dataset_BUSI_with_GT/{path}" for path in truth)
    files |= images(f"Dataset_BUSI_with_GT/{p}" for fact in truth.values() for p in fact.files)
    files["Dataset_BUSI_with_GT/benign/benign (2)_mask_1.png"] = ""
    return Layout(
        "Breast ultrasound, masks beside the images of each class",
        "https://scholar.cu.edu.eg/?q=afahmy/pages/dataset",
        files,
        truth,
        "Dataset_BUSI_with_GT",
    )


def _lgg() -> Layout:
    truth = {
        f"{patient}/{patient}_{n}.tif": of(files=[f"{patient}/{patient}_{n}_mask.tif"])
        for patient in ("TCGA_CS_4941_19960909", "TCGA_DU_5849_19950405")
        for n in (1, 2, 10)
    }
    files = images(f"kaggle_3m/{path}" for path in truth)
    files |= images(f"kaggle_3m/{p}" for fact in truth.values() for p in fact.files)
    files["kaggle_3m/data.csv"] = (
        "Patient,RNASeqCluster,death01\nTCGA_CS_4941,2,1\nTCGA_DU_5849,1,\n"
    )
    files["kaggle_3m/README.md"] = "# LGG Segmentation Dataset\n"
    return Layout(
        "LGG MRI, slices and masks below each patient",
        "https://www.kaggle.com/datasets/mateuszbuda/lgg-mri-segmentation",
        files,
        truth,
        "kaggle_3m",
    )


def _breakhis() -> Layout:
    truth: dict[str, Truth] = {}
    for kind, name, letter in (
        ("benign", "adenosis", "B"),
        ("malignant", "lobular_carcinoma", "M"),
    ):
        for zoom in ("40X", "100X"):
            for n in (1, 2):
                slide = f"SOB_{letter}_X_14-22549AB"
                path = (
                    f"histology_slides/breast/{kind}/SOB/{name}/{slide}/{zoom}/"
                    f"{slide}-{zoom[:-1]}-00{n}.png"
                )
                truth[path] = of(kind, name)
    files = images(f"BreaKHis_v1/{path}" for path in truth)
    files["BreaKHis_v1/histology_slides/breast/README.txt"] = "BreaKHis\n"
    return Layout(
        "BreaKHis, classes above slides and zooms",
        "https://web.inf.ufpr.br/vri/databases/breast-cancer-histopathological-database-breakhis/",
        files,
        truth,
        "BreaKHis_v1",
    )


def _odir() -> Layout:
    rows = [("0_left.jpg", "N"), ("0_right.jpg", "N"), ("1_left.jpg", "D"), ("1_right.jpg", "N")]
    truth = {f"preprocessed_images/{name}": of(label, f"['{label}']") for name, label in rows}
    files = images(f"odir/{path}" for path in truth)
    files["odir/full_df.csv"] = lines(
        ["ID,Patient Age,Left-Fundus,Right-Fundus,N,D,labels,target,filename"]
        + [
            f"{name[0]},69,{name[0]}_left.jpg,{name[0]}_right.jpg,{int(label == 'N')},"
            f"{int(label == 'D')},['{label}'],\"[{int(label == 'N')}, {int(label == 'D')}]\",{name}"
            for name, label in rows
        ]
    )
    return Layout(
        "ODIR, labels as lists of Python in a CSV",
        "https://www.kaggle.com/datasets/andrewmvd/ocular-disease-recognition-odir5k",
        files,
        truth,
        "odir",
    )


LAYOUTS = named(
    "medical",
    [
        _chestxray14(),
        _chestxray14(False),
        _chexpert(),
        _mura(),
        _isic2018(),
        _isic2019(),
        _isic_segmentation(),
        _ham10000(False),
        _ham10000(True),
        _kermany(),
        _busi(),
        _lgg(),
        _breakhis(),
        _odir(),
    ],
)

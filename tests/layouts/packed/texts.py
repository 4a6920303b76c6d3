"""Datasets of written text and documents, and of captions, questions and instructions."""

import json
from typing import Any

from layouts.images import SIDE
from layouts.row import Layout
from layouts.scenes import dumps
from layouts.words import box, labelled, plain

LAYOUTS: list[Layout] = []
NUMBERS = range(1, 9)


def _add(name: str, source: str, files: Any, truth: Any, **more: Any) -> None:
    LAYOUTS.append(Layout(name, source, files, truth, **more))


def _word(at: int) -> str:
    return f"Word{at:02}x"


def _split(at: int) -> str:
    return "train" if at <= 5 else "val"


# Text in scenes

_RRC = "https://rrc.cvc.uab.es/"
_add(
    "icdar 2013: text localization",
    f"{_RRC}?ch=2&com=downloads",
    {f"Challenge2_Training_Task12_Images/{99 + at}.jpg": "" for at in NUMBERS}
    | {
        f"Challenge2_Training_Task1_GT/gt_{99 + at}.txt": f'{at}, 2, 15, 9, "{_word(at)}"\r\n'
        for at in NUMBERS
    },
    {
        f"Challenge2_Training_Task12_Images/{99 + at}.jpg": plain("train", _word(at))
        for at in NUMBERS
    },
)
_add(
    "icdar 2015: incidental scene text",
    f"{_RRC}?ch=4&com=downloads",
    {f"ch4_training_images/img_{at}.jpg": "" for at in NUMBERS}
    | {
        f"ch4_training_localization_transcription_gt/gt_img_{at}.txt": "\ufeff"
        f"{at},1,9,1,9,6,{at},6,{_word(at)}\r\n2,8,9,8,9,12,2,12,###\r\n"
        for at in NUMBERS
    }
    | {f"ch4_test_images/img_{at}.jpg": "" for at in range(1, 4)}
    | {
        f"Challenge4_Test_Task1_GT/gt_img_{at}.txt": f"\ufeff{at},1,9,1,9,6,{at},6,Test{at}y\r\n"
        for at in range(1, 4)
    },
    {f"ch4_training_images/img_{at}.jpg": plain("train", _word(at)) for at in NUMBERS}
    | {f"ch4_test_images/img_{at}.jpg": plain("test", f"Test{at}y") for at in range(1, 4)},
)
_add(
    "icdar 2015: images and gt in two folders",
    "https://mmocr.readthedocs.io/en/dev-1.x/user_guides/data_prepare/det.html",
    {f"imgs/training/img_{at}.jpg": "" for at in NUMBERS}
    | {
        f"annotations/training/gt_img_{at}.txt": f"\ufeff{at},1,9,1,9,6,{at},6,{_word(at)}\r\n"
        for at in NUMBERS
    },
    {f"imgs/training/img_{at}.jpg": plain("train", _word(at)) for at in NUMBERS},
)
_add(
    "icdar 2015: word images",
    f"{_RRC}?ch=4&com=downloads",
    {f"ch4_training_word_images_gt/word_{at}.png": "" for at in NUMBERS}
    | {
        "ch4_training_word_images_gt/gt.txt": "\ufeff"
        + "".join(f'word_{at}.png, "{_word(at)}"\r\n' for at in NUMBERS),
        "ch4_training_word_images_gt/coords.txt": "".join(
            f"{at},1,9,1,9,6,{at},6\r\n" for at in NUMBERS
        ),
    },
    {f"ch4_training_word_images_gt/word_{at}.png": plain("train", _word(at)) for at in NUMBERS},
)
_add(
    "icdar 2019: SROIE, texts beside images",
    f"{_RRC}?ch=13&com=downloads",
    {f"0325updated.task1train(626p)/X5100{at}.jpg": "" for at in NUMBERS}
    | {
        f"0325updated.task1train(626p)/X5100{at}.txt": f"{at},2,9,2,9,6,{at},6,{_word(at)}\r\n"
        for at in NUMBERS
    },
    {f"0325updated.task1train(626p)/X5100{at}.jpg": plain("train", _word(at)) for at in NUMBERS},
)
_add(
    "icdar 2019: ArT",
    f"{_RRC}?ch=14&com=downloads",
    {f"train_images/gt_{at}.jpg": "" for at in NUMBERS}
    | {
        "train_labels.json": dumps(
            {
                f"gt_{at}": [
                    {
                        "transcription": _word(at),
                        "points": [[at, 1], [9, 1], [9, 6], [at, 6]],
                        "language": "Latin",
                        "illegibility": False,
                    }
                ]
                for at in NUMBERS
            }
        )
    },
    {f"train_images/gt_{at}.jpg": plain("train", _word(at)) for at in NUMBERS},
)
_add(
    "icdar 2019: MLT",
    f"{_RRC}?ch=15&com=downloads",
    {f"ImagesPart1/tr_img_{at:05}.jpg": "" for at in range(1, 5)}
    | {f"ImagesPart2/tr_img_{at:05}.jpg": "" for at in range(5, 9)}
    | {
        f"train_gt_t13/tr_img_{at:05}.txt": f"{at},1,9,1,9,6,{at},6,Latin,{_word(at)}\r\n"
        for at in NUMBERS
    },
    {f"ImagesPart{1 + (at > 4)}/tr_img_{at:05}.jpg": plain("train", _word(at)) for at in NUMBERS},
)
_COCO_TEXT = {
    "cats": {},
    "anns": {
        str(100 + at): {
            "mask": [at, 1, 9, 1, 9, 6, at, 6],
            "class": "machine printed",
            "bbox": [at, 1.25, 6, 5],
            "image_id": 1000 + at,
            "id": 100 + at,
            "language": "english",
            "area": 30,
            "utf8_string": _word(at),
            "legibility": "legible",
        }
        for at in NUMBERS
    },
    "imgs": {
        str(1000 + at): {
            "id": 1000 + at,
            "set": _split(at),
            "width": SIDE,
            "file_name": f"COCO_train2014_{1000 + at:012}.jpg",
            "height": SIDE,
        }
        for at in NUMBERS
    },
    "imgToAnns": {str(1000 + at): [100 + at] for at in NUMBERS},
    "info": {"version": "2.0"},
}
_add(
    "coco-text: v2",
    "https://bgshih.github.io/cocotext/",
    {f"train2014/COCO_train2014_{1000 + at:012}.jpg": "" for at in NUMBERS}
    | {"cocotext.v2.json": json.dumps(_COCO_TEXT)},
    {
        f"train2014/COCO_train2014_{1000 + at:012}.jpg": plain(
            _split(at), _word(at), "machine printed", box(at, 1.25, 6, 5)
        )
        for at in NUMBERS
    },
)
_TEXT_OCR = {
    "info": {"version": "0.1"},
    "imgs": {
        f"a{at:015x}": {
            "id": f"a{at:015x}",
            "width": SIDE,
            "height": SIDE,
            "set": "train",
            "file_name": f"train/a{at:015x}.jpg",
        }
        for at in NUMBERS
    },
    "anns": {
        f"a{at:015x}_1": {
            "id": f"a{at:015x}_1",
            "image_id": f"a{at:015x}",
            "bbox": [at, 2.5, 6, 5],
            "utf8_string": _word(at),
            "points": [at, 2.5, 9, 2.5, 9, 7, at, 7],
            "area": 30,
        }
        for at in NUMBERS
    },
    "imgToAnns": {f"a{at:015x}": [f"a{at:015x}_1"] for at in NUMBERS},
}
_add(
    "textocr",
    "https://textvqa.org/textocr/dataset/",
    {f"train_images/a{at:015x}.jpg": "" for at in NUMBERS}
    | {"TextOCR_0.1_train.json": json.dumps(_TEXT_OCR)},
    {f"train_images/a{at:015x}.jpg": plain("train", _word(at)) for at in NUMBERS},
)
_add(
    "synthtext",
    "https://www.robots.ox.ac.uk/~vgg/data/scenetext/",
    {f"SynthText/{at % 3 + 1}/ant+hill_{at}_0.jpg": "" for at in NUMBERS}
    | {
        "SynthText/gt.mat": b"MATLAB 5.0 MAT-file, Platform: GLNXA64".ljust(124) + b"\x00\x01IM",
        "SynthText/readme.txt": "imnames, wordBB, charBB, txt\n",
    },
    {f"SynthText/{at % 3 + 1}/ant+hill_{at}_0.jpg": plain("", _word(at)) for at in NUMBERS},
)
_add(
    "svhn: full numbers",
    "http://ufldl.stanford.edu/housenumbers/",
    {f"train/{at}.png": "" for at in NUMBERS}
    | {f"test/{at}.png": "" for at in range(1, 4)}
    | {
        f"{split}/{name}": b"\x89HDF\r\n\x1a\n".ljust(96, b"\x00")
        for split in ("train", "test")
        for name in ("digitStruct.mat",)
    }
    | {
        f"{split}/see_bboxes.m": "load digitStruct.mat\nfor i = 1:length(digitStruct)\nend\n"
        for split in ("train", "test")
    },
    {f"train/{at}.png": plain("train", "digits") for at in NUMBERS}
    | {f"test/{at}.png": plain("test", "digits") for at in range(1, 4)},
)

# Handwriting and documents

_IAM = "https://fki.tic.heia-fr.ch/databases/iam-handwriting-database"
_add(
    "iam: lines",
    _IAM,
    {f"lines/a01/a01-00{at}u/a01-00{at}u-00.png": "" for at in NUMBERS}
    | {
        "ascii/lines.txt": "#--- lines.txt ----------------#\n#\n# iam line information\n#\n"
        + "".join(
            f"a01-00{at}u-00 ok 154 19 408 746 1661 89 A|{_word(at)}|to|stop\n" for at in NUMBERS
        )
    },
    {f"lines/a01/a01-00{at}u/a01-00{at}u-00.png": plain("", _word(at)) for at in NUMBERS},
)
_add(
    "iam: words",
    "https://keras.io/examples/vision/handwriting_recognition/",
    {f"words/a01/a01-000u/a01-000u-00-0{at}.png": "" for at in NUMBERS}
    | {
        "words.txt": "#--- words.txt ----------------#\n#\n"
        + "".join(
            f"a01-000u-00-0{at} {'err' if at == 4 else 'ok'} 154 408 768 27 51 AT {_word(at)}\n"
            for at in NUMBERS
        )
    },
    {f"words/a01/a01-000u/a01-000u-00-0{at}.png": plain("", _word(at)) for at in NUMBERS},
)
_add(
    "iam: forms and xml",
    _IAM,
    {f"forms/a01-00{at}u.png": "" for at in NUMBERS}
    | {
        f"xml/a01-00{at}u.xml": f'<?xml version="1.0"?>\n<form id="a01-00{at}u" writer-id="000">\n'
        f'  <machine-printed-part><machine-print-line text="{_word(at)}"/></machine-printed-part>\n'
        "</form>\n"
        for at in NUMBERS
    },
    {f"forms/a01-00{at}u.png": plain("", _word(at)) for at in NUMBERS},
)
_RVL = {at: f"images{'abc'[at % 3]}/a/a/a/aaa0{at}d00/5048{at}.tif" for at in range(1, 13)}
_RVL_NAMES = {0: "letter", 5: "scientific report", 10: "budget", 15: "memo"}
_RVL_SPLIT = {at: "train" if at < 8 else "val" if at < 10 else "test" for at in _RVL}
_add(
    "rvl-cdip",
    "https://huggingface.co/datasets/aharley/rvl_cdip",
    {f"images/{path}": "" for path in _RVL.values()}
    | {
        f"labels/{split}.txt": "".join(
            f"{path} {at % 4 * 5}\n" for at, path in _RVL.items() if _RVL_SPLIT[at] == split
        )
        for split in ("train", "val", "test")
    }
    | {"readme.txt": "0 letter\n1 form\n2 email\n"},
    {
        f"images/{path}": labelled(str(at % 4 * 5), _RVL_NAMES[at % 4 * 5], split=_RVL_SPLIT[at])
        for at, path in _RVL.items()
    },
)


def _funsd(at: int) -> str:
    words = [{"box": [at, 2, 9, 6], "text": _word(at)}]
    entry = {"box": [at, 2, 9, 6], "text": _word(at), "label": "question", "words": words}
    return dumps({"form": [entry | {"linking": [[0, 1]], "id": 0}]})


_FUNSD_FOLDER = {"train": "training_data", "val": "testing_data"}
_add(
    "funsd",
    "https://guillaumejaume.github.io/FUNSD/",
    {f"dataset/{_FUNSD_FOLDER[_split(at)]}/images/00009{at}.png": "" for at in NUMBERS}
    | {
        f"dataset/{_FUNSD_FOLDER[_split(at)]}/annotations/00009{at}.json": _funsd(at)
        for at in NUMBERS
    },
    {
        f"dataset/{_FUNSD_FOLDER[_split(at)]}/images/00009{at}.png": plain(
            _split(at).replace("val", "test"), _word(at), "question"
        )
        for at in NUMBERS
    },
)

# Captions

_FLICKR = "https://www.kaggle.com/datasets/adityajn105/flickr8k"


def _caption(at: int, number: int) -> str:
    return f"A child {at} and a dog {number} play , in the grass ."


def _captions(at: int, count: int = 5) -> tuple[str, ...]:
    return tuple(_caption(at, number) for number in range(count))


_add(
    "flickr8k: captions.txt",
    _FLICKR,
    {f"Images/1000{at}_ab.jpg": "" for at in NUMBERS}
    | {
        "captions.txt": "image,caption\n"
        + "".join(f'1000{at}_ab.jpg,"{one}"\n' for at in NUMBERS for one in _captions(at))
    },
    {f"Images/1000{at}_ab.jpg": plain("", *_captions(at)) for at in NUMBERS},
)
_add(
    "flickr8k: token file and lists of splits",
    "https://hockenmaier.cs.illinois.edu/Framing_Image_Description/KCCA.html",
    {f"Flicker8k_Dataset/1000{at}_ab.jpg": "" for at in NUMBERS}
    | {
        "Flickr8k_text/Flickr8k.token.txt": "".join(
            f"1000{at}_ab.jpg#{number}\t{one}\n"
            for at in NUMBERS
            for number, one in enumerate(_captions(at))
        ),
        "Flickr8k_text/Flickr_8k.trainImages.txt": "".join(
            f"1000{at}_ab.jpg\n" for at in NUMBERS if at <= 4
        ),
        "Flickr8k_text/Flickr_8k.devImages.txt": "".join(
            f"1000{at}_ab.jpg\n" for at in NUMBERS if at in (5, 6)
        ),
        "Flickr8k_text/Flickr_8k.testImages.txt": "".join(
            f"1000{at}_ab.jpg\n" for at in NUMBERS if at > 6
        ),
        "Flickr8k_text/readme.txt": "If you publish work based on these data sets\n",
    },
    {
        f"Flicker8k_Dataset/1000{at}_ab.jpg": plain(
            "train" if at <= 4 else "val" if at <= 6 else "test", *_captions(at)
        )
        for at in NUMBERS
    },
)
_add(
    "flickr30k: results.csv",
    "https://www.kaggle.com/datasets/hsankesara/flickr-image-dataset",
    {f"flickr30k_images/flickr30k_images/1000{at}.jpg": "" for at in NUMBERS}
    | {
        "flickr30k_images/results.csv": "image_name| comment_number| comment\n"
        + "".join(
            f"1000{at}.jpg| {number}| {one}\n"
            for at in NUMBERS
            for number, one in enumerate(_captions(at))
        )
    },
    {
        f"flickr30k_images/flickr30k_images/1000{at}.jpg": plain("", *_captions(at))
        for at in NUMBERS
    },
)
_add(
    "flickr30k: token file",
    "https://shannon.cs.illinois.edu/DenotationGraph/",
    {f"flickr30k-images/1000{at}.jpg": "" for at in NUMBERS}
    | {
        "results_20130124.token": "".join(
            f"1000{at}.jpg#{number}\t{one}\n"
            for at in NUMBERS
            for number, one in enumerate(_captions(at))
        )
    },
    {f"flickr30k-images/1000{at}.jpg": plain("", *_captions(at)) for at in NUMBERS},
)
_add(
    "flickr30k: dataset_flickr30k.json",
    "https://cs.stanford.edu/people/karpathy/deepimagesent/",
    {f"flickr30k-images/1000{at}.jpg": "" for at in NUMBERS}
    | {
        "dataset_flickr30k.json": dumps(
            {
                "images": [
                    {
                        "sentids": [at * 10 + k for k in range(5)],
                        "imgid": at,
                        "sentences": [
                            {"tokens": one.split(), "raw": one, "imgid": at, "sentid": at * 10 + k}
                            for k, one in enumerate(_captions(at))
                        ],
                        "split": _split(at),
                        "filename": f"1000{at}.jpg",
                    }
                    for at in NUMBERS
                ],
                "dataset": "flickr30k",
            }
        )
    },
    {f"flickr30k-images/1000{at}.jpg": plain(_split(at), *_captions(at)) for at in NUMBERS},
)
_add(
    "nocaps",
    "https://nocaps.org/download",
    {f"validation/{at:016x}.jpg": "" for at in NUMBERS}
    | {
        "nocaps_val_4500_captions.json": dumps(
            {
                "images": [
                    {
                        "id": at,
                        "width": SIDE,
                        "height": SIDE,
                        "file_name": f"{at:016x}.jpg",
                        "open_images_id": f"{at:016x}",
                        "domain": "near-domain",
                    }
                    for at in NUMBERS
                ],
                "annotations": [
                    {"image_id": at, "id": at * 10 + k, "caption": one}
                    for at in NUMBERS
                    for k, one in enumerate(_captions(at))
                ],
                "info": {},
                "licenses": [],
            }
        )
    },
    {f"validation/{at:016x}.jpg": plain("val", *_captions(at)) for at in NUMBERS},
)
_add(
    "textcaps",
    "https://textvqa.org/textcaps/dataset/",
    {f"train_images/{at:016x}.jpg": "" for at in NUMBERS}
    | {
        "TextCaps_0.1_train.json": dumps(
            {
                "dataset_name": "textcaps",
                "data": [
                    {
                        "image_id": f"{at:016x}",
                        "image_classes": ["Sign"],
                        "flickr_original_url": "https://example.com/x_o.jpg",
                        "image_width": SIDE,
                        "image_height": SIDE,
                        "caption_str": _caption(at, 0),
                        "reference_strs": list(_captions(at)),
                        "image_name": f"{at:016x}",
                        "image_path": f"train/{at:016x}.jpg",
                        "set_name": "train",
                    }
                    for at in NUMBERS
                ],
            }
        )
    },
    {f"train_images/{at:016x}.jpg": plain("train", *_captions(at)) for at in NUMBERS},
)

# Questions

_add(
    "textvqa",
    "https://textvqa.org/dataset/",
    {f"train_images/{at:016x}.jpg": "" for at in NUMBERS}
    | {
        "TextVQA_0.5.1_train.json": dumps(
            {
                "dataset_type": "train",
                "dataset_name": "textvqa",
                "dataset_version": "0.5.1",
                "data": [
                    {
                        "question": f"what is written on sign {at}{part}?",
                        "image_id": f"{at:016x}",
                        "image_classes": ["Sign"],
                        "question_id": at * 10 + k,
                        "answers": [_word(at)] * 10,
                        "set_name": "train",
                    }
                    for at in NUMBERS
                    for k, part in enumerate("ab")
                ],
            }
        )
    },
    {
        f"train_images/{at:016x}.jpg": plain(
            "train", f"what is written on sign {at}a?", f"sign {at}b?", _word(at)
        )
        for at in NUMBERS
    },
)
_add(
    "vqav2",
    "https://visualqa.org/download.html",
    {f"train2014/COCO_train2014_{at:012}.jpg": "" for at in NUMBERS if at <= 5}
    | {f"val2014/COCO_val2014_{at:012}.jpg": "" for at in NUMBERS if at > 5}
    | {
        f"v2_OpenEnded_mscoco_{split}2014_questions.json": dumps(
            {
                "info": {},
                "task_type": "Open-Ended",
                "data_type": "mscoco",
                "data_subtype": f"{split}2014",
                "questions": [
                    {
                        "image_id": at,
                        "question": f"How many dogs in {at}?",
                        "question_id": at * 1000,
                    }
                    for at in NUMBERS
                    if _split(at) == split
                ],
            }
        )
        for split in ("train", "val")
    }
    | {
        f"v2_mscoco_{split}2014_annotations.json": dumps(
            {
                "info": {},
                "data_type": "mscoco",
                "data_subtype": f"{split}2014",
                "annotations": [
                    {
                        "question_type": "how many",
                        "multiple_choice_answer": _word(at),
                        "answers": [
                            {"answer": _word(at), "answer_confidence": "yes", "answer_id": 1}
                        ],
                        "image_id": at,
                        "answer_type": "number",
                        "question_id": at * 1000,
                    }
                    for at in NUMBERS
                    if _split(at) == split
                ],
            }
        )
        for split in ("train", "val")
    },
    {
        f"{_split(at)}2014/COCO_{_split(at)}2014_{at:012}.jpg": plain(
            _split(at), f"How many dogs in {at}?", _word(at)
        )
        for at in NUMBERS
    },
)
_add(
    "gqa",
    "https://cs.stanford.edu/people/dorarad/gqa/download.html",
    {f"images/{2370 + at}.jpg": "" for at in NUMBERS}
    | {
        f"questions/{split}_balanced_questions.json": dumps(
            {
                f"0{at}": {
                    "semantic": [],
                    "entailed": [],
                    "equivalent": [],
                    "question": f"Is the sky {at} dark?",
                    "imageId": str(2370 + at),
                    "isBalanced": True,
                    "groups": {},
                    "answer": _word(at),
                    "fullAnswer": f"Yes, {_word(at)}.",
                }
                for at in NUMBERS
                if _split(at) == split
            }
        )
        for split in ("train", "val")
    }
    | {
        f"sceneGraphs/{split}_sceneGraphs.json": dumps(
            {
                str(2370 + at): {"width": SIDE, "height": SIDE, "objects": {}}
                for at in NUMBERS
                if _split(at) == split
            }
        )
        for split in ("train", "val")
    },
    {
        f"images/{2370 + at}.jpg": plain(_split(at), f"Is the sky {at} dark?", _word(at))
        for at in NUMBERS
    },
)
_add(
    "refcoco: instances and refs as JSON",
    "https://github.com/lichengunc/refer",
    {f"images/mscoco/images/train2014/COCO_train2014_{at:012}.jpg": "" for at in NUMBERS}
    | {
        "refcoco/instances.json": dumps(
            {
                "images": [
                    {
                        "id": at,
                        "file_name": f"COCO_train2014_{at:012}.jpg",
                        "width": SIDE,
                        "height": SIDE,
                    }
                    for at in NUMBERS
                ],
                "annotations": [
                    {
                        "id": at * 7,
                        "image_id": at,
                        "category_id": 1,
                        "bbox": [at, 2, 5, 6],
                        "area": 30,
                        "iscrowd": 0,
                    }
                    for at in NUMBERS
                ],
                "categories": [{"id": 1, "name": "person", "supercategory": "person"}],
            }
        ),
        "refcoco/refs(unc).json": dumps(
            [
                {
                    "sent_ids": [at],
                    "file_name": f"COCO_train2014_{at:012}_{at * 7}.jpg",
                    "ann_id": at * 7,
                    "ref_id": at,
                    "image_id": at,
                    "split": _split(at),
                    "category_id": 1,
                    "sentences": [
                        {"sent_id": at, "sent": f"man {at} on left", "raw": f"man {at} on left"}
                    ],
                }
                for at in NUMBERS
            ]
        ),
    },
    {
        f"images/mscoco/images/train2014/COCO_train2014_{at:012}.jpg": plain(
            _split(at), f"man {at} on left", "person", box(at, 2, 5, 6)
        )
        for at in NUMBERS
    },
)

# Instructions

_LLAVA = "https://huggingface.co/datasets/liuhaotian/LLaVA-Instruct-150K"


def _turns(at: int) -> list[dict[str, str]]:
    return [
        {"from": "human", "value": f"<image>\nWhat is in picture {at}?"},
        {"from": "gpt", "value": f"There is a dog {_word(at)}."},
    ]


_add(
    "llava: instruct JSON",
    _LLAVA,
    {f"train2017/{at:012}.jpg": "" for at in NUMBERS}
    | {
        "llava_instruct_150k.json": dumps(
            [
                {"id": f"{at:012}", "image": f"{at:012}.jpg", "conversations": _turns(at)}
                for at in NUMBERS
            ]
        )
    },
    {
        f"train2017/{at:012}.jpg": plain("train", f"What is in picture {at}?", _word(at))
        for at in NUMBERS
    },
)
_add(
    "llava: mix665k",
    "https://github.com/haotian-liu/LLaVA",
    {f"coco/train2017/{at:012}.jpg": "" for at in NUMBERS if at <= 4}
    | {f"gqa/images/{at:012}.jpg": "" for at in NUMBERS if at > 4}
    | {
        "llava_v1_5_mix665k.json": dumps(
            [
                {
                    "id": f"{at:012}",
                    "image": f"{'coco/train2017' if at <= 4 else 'gqa/images'}/{at:012}.jpg",
                    "conversations": _turns(at),
                }
                for at in NUMBERS
            ]
            + [{"id": "text-only", "conversations": _turns(99)}]
        )
    },
    {
        f"{'coco/train2017' if at <= 4 else 'gqa/images'}/{at:012}.jpg": plain(
            "", f"What is in picture {at}?", _word(at)
        )
        for at in NUMBERS
    },
)
_add(
    "sharegpt4v",
    "https://huggingface.co/datasets/Lin-Chen/ShareGPT4V",
    {f"data/coco/train2017/{at:012}.jpg": "" for at in NUMBERS if at <= 4}
    | {f"data/sam/images/sa_{at}.jpg": "" for at in NUMBERS if at > 4}
    | {
        "data/sharegpt4v_instruct_gpt4-vision_cap100k.json": dumps(
            [
                {
                    "id": f"{at}",
                    "image": f"coco/train2017/{at:012}.jpg"
                    if at <= 4
                    else f"sam/images/sa_{at}.jpg",
                    "conversations": _turns(at),
                }
                for at in NUMBERS
            ]
        )
    },
    {
        f"data/coco/train2017/{at:012}.jpg" if at <= 4 else f"data/sam/images/sa_{at}.jpg": plain(
            "", f"What is in picture {at}?", _word(at)
        )
        for at in NUMBERS
    },
)

# Pairs from the web


def _fetched(at: int, status: str = "success") -> str:
    return dumps(
        {
            "caption": _caption(at, 0),
            "url": f"https://example.com/{at}.jpg",
            "key": f"{at:09}",
            "status": status,
            "error_message": None,
            "width": SIDE,
            "height": SIDE,
            "original_width": 640,
            "original_height": 480,
            "exif": "{}",
            "sha256": f"{at:064x}",
        }
    )


_IMG2 = "https://github.com/rom1504/img2dataset"
_add(
    "img2dataset: files, more in a shard",
    _IMG2,
    {f"{at // 5:05}/{at:09}.jpg": "" for at in NUMBERS}
    | {f"{at // 5:05}/{at:09}.txt": _caption(at, 0) for at in NUMBERS}
    | {f"{at // 5:05}/{at:09}.json": _fetched(at) for at in NUMBERS}
    | {f"{at:05}_stats.json": dumps({"count": 4, "successes": 4}) for at in range(2)},
    {f"{at // 5:05}/{at:09}.jpg": plain("", _caption(at, 0)) for at in NUMBERS},
)
_DIFFUSION = "https://huggingface.co/datasets/poloclub/diffusiondb"
_add(
    "diffusiondb: parts",
    _DIFFUSION,
    {f"images/part-00000{1 + (at > 4)}/{at:08x}-9b1c.png": "" for at in NUMBERS}
    | {
        f"images/part-00000{part}/part-00000{part}.json": dumps(
            {
                f"{at:08x}-9b1c.png": {
                    "p": _caption(at, 0),
                    "se": 38753269 + at,
                    "c": 12.0,
                    "st": 50,
                    "sa": "k_lms",
                }
                for at in NUMBERS
                if 1 + (at > 4) == part
            }
        )
        for part in (1, 2)
    },
    {
        f"images/part-00000{1 + (at > 4)}/{at:08x}-9b1c.png": plain(
            "", _caption(at, 0), str(38753269 + at)
        )
        for at in NUMBERS
    },
)
_add(
    "conceptual captions: tsv and downloads",
    "https://ai.google.com/research/ConceptualCaptions/download",
    {f"training/{at:08}.jpg": "" for at in NUMBERS}
    | {
        "Train_GCC-training.tsv": "".join(
            f"{_caption(at, 0)}\thttps://example.com/{at}.jpg\n" for at in NUMBERS
        )
    },
    {f"training/{at:08}.jpg": plain("train", _caption(at, 0)) for at in NUMBERS},
)

"""Datasets that are published with lists of their own; each row says where."""

from layouts.matlab import mat
from layouts.row import Read, Row


def box(x: float, y: float, width: float, height: float) -> dict[str, list[list[float]]]:
    """What one box is in the member ``json``."""
    return {"boxes": [[x, y, width, height]]}


ROWS = [
    # cs231n.stanford.edu/tiny-imagenet-200.zip; the lists as its val_annotations.txt has them
    Row(
        "Tiny-ImageNet with its lists",
        "tiny-imagenet-200/train/n01/images/n01_0.JPEG tiny-imagenet-200/val/images/val_0.JPEG "
        "tiny-imagenet-200/train/n02/images/n02_0.JPEG tiny-imagenet-200/test/images/test_0.JPEG",
        Read(
            {"train/n01/images/n01_0": "n01", "train/n02/images/n02_0": "n02"}
            | {"val/images/val_0": "n02", "test/images/test_0": None},
            {"train/n01/images/n01_0": "train", "train/n02/images/n02_0": "train"}
            | {"val/images/val_0": "val", "test/images/test_0": "test"},
            members={"train/n01/images/n01_0": ("json",), "train/n02/images/n02_0": ()}
            | {"val/images/val_0": ("json",), "test/images/test_0": ()},
            ignored=frozenset({"words.txt"}),
            json={"train/n01/images/n01_0": box(1, 2, 9, 8), "val/images/val_0": box(0, 3, 5, 6)},
            what="Tiny-ImageNet",
        ),
        contents={
            "tiny-imagenet-200/wnids.txt": "n02\nn01\n",
            "tiny-imagenet-200/words.txt": "n01\tfish\n",
            "tiny-imagenet-200/train/n01/n01_boxes.txt": "n01_0.JPEG\t1\t2\t10\t10\n",
            "tiny-imagenet-200/val/val_annotations.txt": "val_0.JPEG\tn02\t0\t3\t5\t9\n",
        },
    ),
    # vision.caltech.edu/datasets/cub_200_2011: README of CUB_200_2011.tgz, and segmentations.tgz
    Row(
        "CUB-200-2011",
        "CUB_200_2011/images/001.Auk/a_1.jpg CUB_200_2011/images/002.Jay/b_2.jpg attributes.txt "
        "CUB_200_2011/segmentations/001.Auk/a_1.png CUB_200_2011/parts/parts.txt "
        "CUB_200_2011/README CUB_200_2011/attributes/certainties.txt",
        Read(
            {"images/001.Auk/a_1": "001.Auk", "images/002.Jay/b_2": "002.Jay"},
            {"images/001.Auk/a_1": "test", "images/002.Jay/b_2": "train"},
            members={
                "images/001.Auk/a_1": ("mask.png", "json"),
                "images/002.Jay/b_2": ("json",),
            },
            ignored=frozenset({"README", "parts/", "attributes/", "../attributes.txt"}),
            json={"images/001.Auk/a_1": box(60, 27, 325, 304.5)},
            what="CUB",
        ),
        contents={
            "CUB_200_2011/images.txt": "1 001.Auk/a_1.jpg\n2 002.Jay/b_2.jpg\n",
            "CUB_200_2011/classes.txt": "1 001.Auk\n2 002.Jay\n",
            "CUB_200_2011/image_class_labels.txt": "1 1\n2 2\n",
            "CUB_200_2011/train_test_split.txt": "1 0\n2 1\n",
            "CUB_200_2011/bounding_boxes.txt": "1 60.0 27.0 325.0 304.5\n2 1.0 2.0 3.0 4.0\n",
        },
    ),
    # dl.allaboutbirds.org/nabirds: README of nabirds.tar.gz
    Row(
        "NABirds",
        "images/0817/00a0.jpg images/0860/00b1.jpg",
        Read(
            {"images/0817/00a0": "Owl (Adult)", "images/0860/00b1": "Owl (Young)"},
            {"images/0817/00a0": "train", "images/0860/00b1": "test"},
            members=("json",),
            ignored=frozenset({"hierarchy.txt", "sizes.txt", "photographers.txt"}),
            what="CUB",
        ),
        contents={
            "images.txt": "00a0-21 0817/00a0.jpg\n00b1-33 0860/00b1.jpg\n",
            "classes.txt": "0 Birds\n817 Owl (Adult)\n860 Owl (Young)\n",
            "image_class_labels.txt": "00a0-21 817\n00b1-33 860\n",
            "train_test_split.txt": "00a0-21 1\n00b1-33 0\n",
            "bounding_boxes.txt": "00a0-21 1 2 3 4\n00b1-33 1 2 3 4\n",
            "hierarchy.txt": "1 0\n",
            "sizes.txt": "00a0-21 10 10\n",
            "photographers.txt": "00a0-21 somebody\n",
        },
    ),
    # robots.ox.ac.uk/~vgg/data/pets: README of annotations.tar.gz; images.tar.gz has three .mat
    Row(
        "Oxford-IIIT Pet",
        "images/Abyssinian_1.jpg images/Abyssinian_5.mat images/american_bulldog_10.jpg "
        "images/Abyssinian_34.jpg annotations/trimaps/Abyssinian_1.png "
        "annotations/trimaps/american_bulldog_10.png annotations/trimaps/._Abyssinian_1.png "
        "annotations/README annotations/list.txt annotations/xmls/Abyssinian_1.xml",
        Read(
            {"images/Abyssinian_1": "Abyssinian", "images/american_bulldog_10": "american_bulldog"},
            {"images/Abyssinian_1": "trainval", "images/american_bulldog_10": "test"},
            members={
                "images/Abyssinian_1": ("mask.png", "xml"),
                "images/american_bulldog_10": ("mask.png",),
            },
            ignored=frozenset(
                {"images/Abyssinian_5.mat", "images/Abyssinian_34.jpg", "annotations/README"}
                | {"annotations/list.txt", "annotations/trimaps/._Abyssinian_1.png"}
            ),
            what="Oxford-IIIT Pet",
        ),
        contents={
            "annotations/trainval.txt": "Abyssinian_1 1 1 1\n",
            "annotations/test.txt": "american_bulldog_10 2 2 1\n",
        },
    ),
    # image-net.org/challenges/LSVRC/2012: readme.txt of the devkit, with the images as unpacked
    Row(
        "ImageNet with its devkit",
        "train/n01/n01_1.JPEG train/n02/n02_1.JPEG val/ILSVRC2012_val_00000001.JPEG "
        "val/ILSVRC2012_val_00000002.JPEG ILSVRC2012_devkit_t12/readme.txt",
        Read(
            {"train/n01/n01_1": "n01", "train/n02/n02_1": "n02"}
            | {f"val/ILSVRC2012_val_0000000{n}": f"n0{3 - n}" for n in (1, 2)},
            {"train/n01/n01_1": "train", "train/n02/n02_1": "train"}
            | {f"val/ILSVRC2012_val_0000000{n}": "val" for n in (1, 2)},
            ignored=frozenset({"ILSVRC2012_devkit_t12/readme.txt"}),
            what="ImageNet with its devkit",
        ),
        contents={
            "ILSVRC2012_devkit_t12/data/ILSVRC2012_validation_ground_truth.txt": "1\n2\n",
            "ILSVRC2012_devkit_t12/data/meta.mat": mat(
                synsets=[
                    {"ILSVRC2012_ID": 1, "WNID": "n02", "num_children": 0},
                    {"ILSVRC2012_ID": 2, "WNID": "n01", "num_children": 0},
                    {"ILSVRC2012_ID": 3, "WNID": "n00", "num_children": 2},
                ]
            ),
        },
    ),
    # kaggle.com/c/imagenet-object-localization-challenge/data
    Row(
        "ImageNet as Kaggle has it",
        "ILSVRC/Data/CLS-LOC/train/n01/n01_1.JPEG ILSVRC/Data/CLS-LOC/test/ILSVRC2012_test_1.JPEG "
        "ILSVRC/Data/CLS-LOC/val/ILSVRC2012_val_00000001.JPEG ILSVRC/ImageSets/CLS-LOC/val.txt "
        "ILSVRC/Annotations/CLS-LOC/train/n01/n01_1.xml LOC_train_solution.csv "
        "ILSVRC/Annotations/CLS-LOC/val/ILSVRC2012_val_00000001.xml LOC_sample_submission.csv",
        Read(
            {"ILSVRC/Data/CLS-LOC/train/n01/n01_1": "n01"}
            | {"ILSVRC/Data/CLS-LOC/val/ILSVRC2012_val_00000001": "n02"}
            | {"ILSVRC/Data/CLS-LOC/test/ILSVRC2012_test_1": None},
            {"ILSVRC/Data/CLS-LOC/train/n01/n01_1": "train"}
            | {"ILSVRC/Data/CLS-LOC/val/ILSVRC2012_val_00000001": "val"}
            | {"ILSVRC/Data/CLS-LOC/test/ILSVRC2012_test_1": "test"},
            members={"ILSVRC/Data/CLS-LOC/train/n01/n01_1": ("xml",)}
            | {"ILSVRC/Data/CLS-LOC/val/ILSVRC2012_val_00000001": ("xml",)}
            | {"ILSVRC/Data/CLS-LOC/test/ILSVRC2012_test_1": ()},
            ignored=frozenset(
                {"ILSVRC/ImageSets/", "LOC_train_solution.csv", "LOC_sample_submission.csv"}
            ),
            what="ImageNet as Kaggle has it",
        ),
        contents={
            "LOC_val_solution.csv": "ImageId,PredictionString\n"
            "ILSVRC2012_val_00000001,n02 85 1 499 272 \n",
            "LOC_synset_mapping.txt": "n01 tench, Tinca tinca\nn02 goldfish\n",
        },
    ),
    # robots.ox.ac.uk/~vgg/data/fgvc-aircraft: README of fgvc-aircraft-2013b.tar.gz
    Row(
        "FGVC-Aircraft",
        "fgvc-aircraft-2013b/data/images/1.jpg fgvc-aircraft-2013b/data/images/2.jpg "
        "fgvc-aircraft-2013b/README fgvc-aircraft-2013b/data/families.txt "
        "fgvc-aircraft-2013b/data/images/3.jpg fgvc-aircraft-2013b/evaluation.m "
        "fgvc-aircraft-2013b/data/images_variant_trainval.txt",
        Read(
            {"images/1": "707-320", "images/2": "A300", "images/3": "707-320"},
            {"images/1": "train", "images/2": "val", "images/3": "test"},
            members=("json",),
            ignored=frozenset(
                {"../README", "../evaluation.m", "families.txt", "images_variant_trainval.txt"}
            ),
            json={"images/1": box(3, 144, 996, 387) | {"family": "Boeing 707"}},
        ),
        contents={
            "fgvc-aircraft-2013b/data/variants.txt": "707-320\nA300\n",
            "fgvc-aircraft-2013b/data/images_variant_train.txt": "1 707-320\n",
            "fgvc-aircraft-2013b/data/images_variant_val.txt": "2 A300\n",
            "fgvc-aircraft-2013b/data/images_variant_test.txt": "3 707-320\n",
            "fgvc-aircraft-2013b/data/images_family_train.txt": "1 Boeing 707\n",
            "fgvc-aircraft-2013b/data/images_box.txt": "1 3 144 999 531\n",
        },
    ),
    # robots.ox.ac.uk/~vgg/data/dtd: README of dtd-r1.0.1.tar.gz
    Row(
        "DTD",
        "dtd/images/banded/b_1.jpg dtd/images/dotted/d_2.jpg dtd/images/dotted/d_3.jpg "
        "dtd/imdb/imdb.mat dtd/labels/train2.txt dtd/labels/labels_joint_anno.txt",
        Read(
            {"images/banded/b_1": "banded", "images/dotted/d_2": "dotted"}
            | {"images/dotted/d_3": "dotted"},
            {"images/banded/b_1": "train", "images/dotted/d_2": "val", "images/dotted/d_3": "test"},
            ignored=frozenset({"imdb/", "labels/train2.txt", "labels/labels_joint_anno.txt"}),
        ),
        contents={
            "dtd/labels/train1.txt": "banded/b_1.jpg\n",
            "dtd/labels/val1.txt": "dotted/d_2.jpg\n",
            "dtd/labels/test1.txt": "dotted/d_3.jpg\n",
        },
    ),
    # vision.princeton.edu/projects/2010/SUN: SUN397.tar.gz
    Row(
        "SUN397 with its list of classes",
        "SUN397/a/abbey/1.jpg SUN397/b/bar/outdoor/2.jpg SUN397/README.txt",
        Read(
            {"a/abbey/1": "a/abbey", "b/bar/outdoor/2": "b/bar/outdoor"},
            ignored=frozenset({"README.txt"}),
        ),
        contents={"SUN397/ClassName.txt": "/a/abbey\n/b/bar/outdoor\n"},
    ),
    # pytorch.org/vision: torchvision.datasets.Places365; places2.csail.mit.edu/download.html
    Row(
        "Places365",
        "data_256_standard/a/airfield/1.jpg data_256_standard/b/bar/2.jpg val_256/v_1.jpg",
        Read(
            {"data_256_standard/a/airfield/1": "a/airfield", "data_256_standard/b/bar/2": "b/bar"}
            | {"val_256/v_1": "b/bar"},
            {"data_256_standard/a/airfield/1": "train", "data_256_standard/b/bar/2": "train"}
            | {"val_256/v_1": "val"},
        ),
        contents={
            "categories_places365.txt": "/a/airfield 0\n/b/bar 1\n",
            "places365_train_standard.txt": "/a/airfield/1.jpg 0\n/b/bar/2.jpg 1\n",
            "places365_val.txt": "v_1.jpg 1\n",
        },
    ),
    # mmlab.ie.cuhk.edu.hk/projects/CelebA.html
    Row(
        "CelebA",
        "img_align_celeba/1.jpg img_align_celeba/2.jpg list_bbox_celeba.txt",
        Read(
            {"img_align_celeba/1": None, "img_align_celeba/2": None},
            {"img_align_celeba/1": "train", "img_align_celeba/2": "test"},
            members=("json",),
            ignored=frozenset({"list_bbox_celeba.txt"}),
            json={
                "img_align_celeba/1": {"attributes": {"Bald": 0, "Smiling": 1}, "identity": 2880}
            },
        ),
        contents={
            "list_attr_celeba.txt": "2\nBald Smiling\n1.jpg -1  1\n2.jpg  1 -1\n",
            "list_eval_partition.txt": "1.jpg 0\n2.jpg 2\n",
            "identity_CelebA.txt": "1.jpg 2880\n2.jpg 17\n",
        },
    ),
    # kaggle.com/datasets/jessicali9530/celeba-dataset
    Row(
        "CelebA as Kaggle has it",
        "img_align_celeba/img_align_celeba/1.jpg list_landmarks_align_celeba.csv",
        Read(
            {"img_align_celeba/img_align_celeba/1": None},
            {"img_align_celeba/img_align_celeba/1": "val"},
            members=("json",),
            ignored=frozenset({"list_landmarks_align_celeba.csv"}),
            json={"img_align_celeba/img_align_celeba/1": {"attributes": {"Bald": 1, "Smiling": 0}}},
        ),
        contents={
            "list_attr_celeba.csv": "image_id,Bald,Smiling\n1.jpg,1,-1\n",
            "list_eval_partition.csv": "image_id,partition\n1.jpg,1\n",
        },
    ),
    # benchmark.ini.rub.de/gtsrb_dataset.html
    Row(
        "GTSRB",
        "GTSRB/Final_Training/Images/00000/0_0.ppm GTSRB/Final_Training/Images/00014/1_0.ppm "
        "GTSRB/Final_Test/Images/00000.ppm GTSRB/Readme-Images.txt "
        "GTSRB/Final_Test/Images/GT-final_test.test.csv",
        Read(
            {"Final_Training/Images/00000/0_0": "00000", "Final_Training/Images/00014/1_0": "00014"}
            | {"Final_Test/Images/00000": "00014"},
            {
                "Final_Training/Images/00000/0_0": "train",
                "Final_Training/Images/00014/1_0": "train",
                "Final_Test/Images/00000": "test",
            },
            members=("json",),
            ignored=frozenset({"Readme-Images.txt", "Final_Test/Images/GT-final_test.test.csv"}),
            json={"Final_Training/Images/00000/0_0": box(5, 6, 20, 20)},
        ),
        contents={
            path: f"Filename;Width;Height;Roi.X1;Roi.Y1;Roi.X2;Roi.Y2;ClassId\n{row}\n"
            for path, row in {
                "GTSRB/Final_Training/Images/00000/GT-00000.csv": "0_0.ppm;29;30;5;6;25;26;0",
                "GTSRB/Final_Training/Images/00014/GT-00014.csv": "1_0.ppm;29;30;5;6;25;26;14",
                "GTSRB/GT-final_test.csv": "00000.ppm;53;54;6;5;48;49;14",
            }.items()
        },
    ),
    # robots.ox.ac.uk/~vgg/data/flowers/102: README.txt
    Row(
        "Oxford 102 Flowers",
        "jpg/image_00001.jpg jpg/image_00002.jpg jpg/image_00003.jpg",
        Read(
            {"jpg/image_00001": "77", "jpg/image_00002": "9", "jpg/image_00003": "77"},
            {"jpg/image_00001": "test", "jpg/image_00002": "train", "jpg/image_00003": "val"},
            classes=("9", "77"),
        ),
        contents={
            "imagelabels.mat": mat(labels=[77, 9, 77]),
            "setid.mat": mat(packed=False, trnid=[2], valid=[3], tstid=[1]),
        },
    ),
    # ai.stanford.edu/~jkrause/cars/car_dataset.html, and torchvision.datasets.StanfordCars
    Row(
        "Stanford Cars",
        "stanford_cars/cars_train/00001.jpg stanford_cars/cars_test/00001.jpg "
        "stanford_cars/devkit/README.txt",
        Read(
            {"cars_train/00001": "BMW M3", "cars_test/00001": "Audi S4"},
            {"cars_train/00001": "train", "cars_test/00001": "test"},
            members=("json",),
            ignored=frozenset({"devkit/README.txt", "devkit/cars_test_annos.mat"}),
            json={"cars_train/00001": box(39, 116, 530, 259)},
        ),
        contents={
            "stanford_cars/devkit/cars_meta.mat": mat(class_names=("Audi S4", "BMW M3")),
            "stanford_cars/devkit/cars_test_annos.mat": mat(annotations=[{"fname": "00001.jpg"}]),
            **{
                path: mat(
                    annotations=[
                        {"bbox_x1": 39, "bbox_y1": 116, "bbox_x2": 569, "bbox_y2": 375}
                        | {"class": number, "fname": "00001.jpg"}
                    ]
                )
                for path, number in {
                    "stanford_cars/devkit/cars_train_annos.mat": 2,
                    "stanford_cars/cars_test_annos_withlabels.mat": 1,
                }.items()
            },
        },
    ),
    # vision.stanford.edu/aditya86/ImageNetDogs: images.tar, annotation.tar, lists.tar
    Row(
        "Stanford Dogs",
        "Images/n01-Chin/n01_1.jpg Images/n02-Pug/n02_2.jpg Annotation/n01-Chin/n01_1",
        Read(
            {"Images/n01-Chin/n01_1": "n01-Chin", "Images/n02-Pug/n02_2": "n02-Pug"},
            {"Images/n01-Chin/n01_1": "test", "Images/n02-Pug/n02_2": "train"},
            members={"Images/n01-Chin/n01_1": ("xml",), "Images/n02-Pug/n02_2": ()},
            ignored=frozenset({"file_list.mat"}),
        ),
        contents={
            "train_list.mat": mat(file_list=("n02-Pug/n02_2.jpg",), labels=[2]),
            "test_list.mat": mat(file_list=("n01-Chin/n01_1.jpg",), labels=[1]),
            "file_list.mat": mat(file_list=("n01-Chin/n01_1.jpg", "n02-Pug/n02_2.jpg")),
        },
    ),
]

"""The archives that publishers and Kaggle offer, with the lists inside."""

from published import (
    classification,
    folders_doubtful,
    kaggle,
    medical,
    restoration,
    retrieval,
    segmentation,
    sound,
    tables,
    webdataset_like,
)
from published.making import archived, named
from published.row import Layout

_ROWS = {
    row.name: row
    for module in (
        classification,
        folders_doubtful,
        kaggle,
        medical,
        restoration,
        retrieval,
        segmentation,
        sound,
        tables,
        webdataset_like,
    )
    for row in module.LAYOUTS
}

# The name of a layout, and the archive.
_OFFERED = [
    ("classification: ImageNet, its tars beside the devkit", "classes.tar"),
    ("folders_doubtful: a tar for each class", "classes.tar"),
    ("folders_doubtful: a tar for each class with a metadata file", "classes.tar"),
    ("folders_doubtful: a tar for each class, with its folder, and a table", "classes.tar"),
    ("folders_doubtful: ImageNet-21k, tars of synsets beside words.txt", "classes.tar"),
    ("webdataset_like: tars of class folders", "classes.tar"),
    ("classification: DomainNet, one domain with its lists", "clipart.zip"),
    ("classification: EuroSAT as Kaggle has it, with tables of splits", "archive.zip"),
    (
        "classification: GTSRB as Kaggle has it, with a picture for each class in Meta",
        "archive.zip",
    ),
    (
        "classification: ImageNet as Kaggle has it, with LOC_*.csv",
        "imagenet-object-localization-challenge.zip",
    ),
    ("classification: ImageNet with the lists of caffe_ilsvrc12", "imagenet.tar"),
    (
        "classification: ImageNet as OpenMMLab wants it, with meta/train.txt and meta/val.txt",
        "imagenet.zip",
    ),
    ("classification: MIT Indoor 67 with TrainImages.txt", "archive.zip"),
    ("classification: Malaria cells, with the nested copy of Kaggle's zip", "archive.zip"),
    ("classification: Office-Home", "OfficeHomeDataset_10072016.zip"),
    ("classification: Oxford Flowers 102", "flowers-102.zip"),
    ("classification: Oxford-IIIT Pet with trimaps", "oxford-iiit-pet.zip"),
    ("classification: PACS with its kfold splits", "pacs.zip"),
    ("classification: SUN397 with its partitions", "SUN397.tar.gz"),
    ("classification: Stanford Cars with its devkit", "stanford_cars.zip"),
    ("classification: UC Merced with torchgeo's lists", "UCMerced_LandUse.zip"),
    ("classification: VisDA-2017 with image_list.txt", "visda.tar"),
    ("classification: iNaturalist 2018 with its JSON", "train_val2018.tar.gz"),
    ("folders_doubtful: Apple Photos, unmodified originals with AAE and MOV", "Export.zip"),
    ("folders_doubtful: Google Takeout, a JSON beside each photo", "takeout-001.zip"),
    ("folders_doubtful: Hugging Face, metadata.csv in each split", "data.zip"),
    ("folders_doubtful: Hugging Face, metadata.jsonl in each split", "data.zip"),
    ("folders_doubtful: Hugging Face, metadata.parquet in each split", "data.zip"),
    ("folders_doubtful: a folder thumbnails with the same class folders", "data.zip"),
    ("folders_doubtful: train in one form of Unicode, val in another", "data.zip"),
    ("kaggle: APTOS 2019", "aptos2019-blindness-detection.zip"),
    ("kaggle: COVID-19 Radiography, images and masks below each class", "archive.zip"),
    (
        "kaggle: Cassava, with TFRecords of the same images",
        "cassava-leaf-disease-classification.zip",
    ),
    ("kaggle: Fruits-360, Training and Test", "archive.zip"),
    ("kaggle: Histopathologic Cancer Detection", "histopathologic-cancer-detection.zip"),
    ("kaggle: Humpback Whale, where Id is the label", "humpback-whale-identification.zip"),
    ("kaggle: Landmark Recognition, folders of three letters of the id", "landmark.zip"),
    ("kaggle: Landmark Recognition, its train folder without the table", "images_000.tar"),
    ("kaggle: Pawpularity, flags of quality beside the score", "petfinder-pawpularity-score.zip"),
    ("kaggle: Plant Pathology 2020, a column for each class", "plant-pathology-2020-fgvc7.zip"),
    ("kaggle: Plant Pathology 2021, several labels in one text", "plant-pathology-2021-fgvc8.zip"),
    (
        "kaggle: State Farm, class folders and a table of drivers",
        "state-farm-distracted-driver-detection.zip",
    ),
    ("medical: HAM10000", "dataverse_files.zip"),
    ("medical: ISIC 2018 task 3, a column of 1.0 and 0.0 for each class", "isic.zip"),
    ("medical: LGG MRI, slices and masks below each patient", "archive.zip"),
    ("medical: NIH ChestX-ray14", "archive.zip"),
    ("medical: chest_xray, with the nested copy of Kaggle's zip", "archive.zip"),
    ("restoration: CycleGAN, trainA, trainB, testA, testB", "horse2zebra.zip"),
    ("restoration: FFHQ, chunks of a thousand", "images1024x1024.zip"),
    ("restoration: Rain100L, folders rain and norain", "Rain100L.zip"),
    ("retrieval: CelebA as Kaggle has it, in CSV", "archive.zip"),
    ("retrieval: CelebA with identities and partition", "celeba.zip"),
    ("retrieval: DeepFashion, in-shop retrieval", "inshop.zip"),
    ("retrieval: LFW, deep funneled, with its lists of pairs and people", "lfw-py.zip"),
    ("retrieval: MS-Celeb with a clean list", "ms1m.tar"),
    ("retrieval: Stanford Online Products", "Stanford_Online_Products.zip"),
    ("retrieval: VGGFace2 with boxes in bb_landmark", "vggface2.tar.gz"),
    ("segmentation: ADE20K, scene parsing, with sceneCategories.txt", "ADEChallengeData2016.zip"),
    ("segmentation: CHASE_DB1, two observers beside each image", "CHASEDB1.zip"),
    ("segmentation: CamVid as Kaggle has it", "archive.zip"),
    ("segmentation: CamVid as fastai has it, with codes.txt and valid.txt", "camvid.tgz"),
    ("segmentation: Carvana, its folders", "carvana-image-masking-challenge.zip"),
    ("segmentation: DAVIS 2017", "DAVIS-2017-trainval-480p.zip"),
    ("segmentation: DeepGlobe roads, its folders", "archive.zip"),
    ("segmentation: LEVIR-CD", "LEVIR-CD.zip"),
    ("segmentation: Supervisely persons, bitmaps in JSON", "persons.zip"),
    ("sound: a README that names three images", "animals.zip"),
    ("sound: files.txt that names every image", "animals.tar.gz"),
    ("sound: labels.txt of the class folders", "animals.zip"),
    ("sound: md5 sums", "animals.tar"),
    ("sound: splits with a README and classes.txt", "animals.zip"),
    ("tables: Flickr8k, five captions for each image", "archive.zip"),
    ("tables: JSON, a dict of names and labels", "data.zip"),
    ("tables: a column is_test", "data.zip"),
    ("tables: a list of paths and numbers", "data.tar"),
    ("tables: a row of sums at the end", "data.zip"),
    ("tables: UTF-8 with accents", "data.zip"),
    ("tables: CRLF as line end", "data.zip"),
]


def _offered(name: str, archive: str) -> Layout:
    return archived(_ROWS[name], archive, f"{name.replace(':', ',', 1)}, as {archive}")


LAYOUTS = named("archives", [_offered(*row) for row in _OFFERED])

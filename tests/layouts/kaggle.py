"""Tables as Kaggle's competitions and datasets have them; each row says whose."""

from layouts.row import Read, Row

BOXES = "image_id,width,height,bbox,source\n"
CARDS = "class index,filepaths,labels,card type,data set\n"

ROWS = [
    # kaggle.com/competitions/dog-breed-identification/data
    Row(
        "dog breeds: ids without extension",
        "train/a1.jpg train/b2.jpg test/c3.jpg",
        Read(
            {"train/a1": "boston_bull", "train/b2": "dingo", "test/c3": None},
            {"train/a1": "train", "train/b2": "train", "test/c3": "test"},
            ignored=frozenset({"sample_submission.csv"}),
            what="images named by labels.csv",
        ),
        contents={
            "labels.csv": "id,breed\na1,boston_bull\nb2,dingo\n",
            "sample_submission.csv": "id,affenpinscher,dingo\nc3,0.1,0.9\n",
        },
    ),
    Row(
        "dog breeds: the list by itself",
        "train/a1.jpg train/b2.jpg",
        Read(
            {"train/a1": "boston_bull", "train/b2": "dingo"},
            {"train/a1": "train", "train/b2": "train"},
            what="a list of images",
        ),
        contents={"labels.csv": "id,breed\na1,boston_bull\nb2,dingo\n"},
        src="labels.csv",
    ),
    # kaggle.com/competitions/cassava-leaf-disease-classification/data
    Row(
        "cassava: train_images beside test_images",
        "train_images/1.jpg train_images/2.jpg test_images/3.jpg",
        Read(
            {"train_images/1": "0", "train_images/2": "3", "test_images/3": None},
            {"train_images/1": "train", "train_images/2": "train", "test_images/3": "test"},
            ignored=frozenset({"sample_submission.csv", "label_num_to_disease_map.json"}),
            classes=(),
        ),
        contents={
            "train.csv": "image_id,label\n1.jpg,0\n2.jpg,3\n",
            "sample_submission.csv": "image_id,label\n3.jpg,4\n",
            "label_num_to_disease_map.json": '{"0": "Cassava Bacterial Blight (CBB)"}',
        },
    ),
    # kaggle.com/competitions/plant-pathology-2020-fgvc7/data
    Row(
        "plant pathology 2020: a column for each class, one folder for both splits",
        "images/Train_0.jpg images/Train_1.jpg images/Test_0.jpg",
        Read(
            {"images/Train_0": "scab", "images/Train_1": "healthy", "images/Test_0": None},
            {"images/Train_0": "train", "images/Train_1": "train", "images/Test_0": "test"},
            classes=("healthy", "multiple_diseases", "rust", "scab"),
        ),
        contents={
            "train.csv": "image_id,healthy,multiple_diseases,rust,scab\n"
            "Train_0,0,0,0,1\nTrain_1,1,0,0,0\n",
            "test.csv": "image_id\nTest_0\n",
        },
    ),
    # kaggle.com/competitions/plant-pathology-2021-fgvc8/data
    Row(
        "plant pathology 2021: several labels in a text",
        "train_images/a.jpg train_images/b.jpg train_images/c.jpg test_images/d.jpg",
        Read(
            {"train_images/a": None, "train_images/b": None, "train_images/c": None}
            | {"test_images/d": None},
            {"train_images/a": "train", "train_images/b": "train", "train_images/c": "train"}
            | {"test_images/d": "test"},
            members={"train_images/a": ("json",), "train_images/b": ("json",)}
            | {"train_images/c": ("json",), "test_images/d": ()},
            json={"train_images/a": {"labels": [1, 0]}, "train_images/b": {"labels": [1]}},
            classes=("frog_eye_leaf_spot", "scab"),
        ),
        options={"label_separator": " "},
        contents={
            "train.csv": "image,labels\na.jpg,scab frog_eye_leaf_spot\nb.jpg,scab\n"
            "c.jpg,frog_eye_leaf_spot\n",
        },
    ),
    # kaggle.com/competitions/planet-understanding-the-amazon-from-space/data
    Row(
        "Planet: tags",
        "train-jpg/train_0.jpg train-jpg/train_1.jpg test-jpg/test_0.jpg",
        Read(
            {"train-jpg/train_0": None, "train-jpg/train_1": None, "test-jpg/test_0": None},
            {"train-jpg/train_0": "train", "train-jpg/train_1": "train"}
            | {"test-jpg/test_0": "test"},
            members={"train-jpg/train_0": ("json",), "train-jpg/train_1": ("json",)}
            | {"test-jpg/test_0": ()},
            json={"train-jpg/train_1": {"labels": [0, 1, 2]}},
            classes=("agriculture", "clear", "primary"),
        ),
        options={"label_separator": " "},
        contents={
            "train_v2.csv": "image_name,tags\ntrain_0,clear primary\n"
            "train_1,agriculture clear primary\n",
        },
    ),
    Row(
        "words that may be one label or several",
        "1.jpg 2.jpg",
        "'agriculture clear' in the column 'label' may be one label.*--label-separator ' '",
        contents={"train.csv": "image,label\n1.jpg,clear\n2.jpg,agriculture clear\n"},
    ),
    Row(
        "the same, with one label each",
        "1.jpg 2.jpg",
        Read({"1": "clear", "2": "agriculture clear"}, {"1": "train", "2": "train"}),
        {"label_separator": "none"},
        {"train.csv": "image,label\n1.jpg,clear\n2.jpg,agriculture clear\n"},
    ),
    # kaggle.com/competitions/imet-2020-fgvc7/data
    Row(
        "iMet: numbers of several labels",
        "train/a.png train/b.png",
        Read(
            {"train/a": None, "train/b": None},
            {"train/a": "train", "train/b": "train"},
            members=("json",),
            json={"train/a": {"labels": [3, 1]}},
            classes=("0", "1", "2", "3"),
            ignored=frozenset({"labels.csv"}),
        ),
        options={"label_separator": " "},
        contents={
            "train.csv": "id,attribute_ids\na,3 1\nb,1\n",
            "labels.csv": "attribute_id,attribute_name\n1,country::egypt\n3,tag::men\n",
        },
    ),
    # kaggle.com/datasets/nih-chest-xrays/data
    Row(
        "ChestX-ray14: labels with | between, images in numbered folders",
        "images_001/images/00000001_000.png images_002/images/00000002_000.png "
        "README_CHESTXRAY.pdf",
        Read(
            {"images_001/images/00000001_000": None, "images_002/images/00000002_000": None},
            members=("json",),
            json={
                "images_001/images/00000001_000": {"labels": [0, 1], "Patient Age": "057"},
                "images_002/images/00000002_000": {"labels": [2]},
            },
            classes=("Cardiomegaly", "Emphysema", "No Finding"),
            ignored=frozenset({"README_CHESTXRAY.pdf", "BBox_List_2017.csv"}),
        ),
        options={"label_separator": "|"},
        contents={
            "Data_Entry_2017.csv": "Image Index,Finding Labels,Patient Age,Patient Gender\n"
            "00000001_000.png,Cardiomegaly|Emphysema,057,M\n00000002_000.png,No Finding,081,M\n",
            "BBox_List_2017.csv": "Image Index,Finding Label,Bbox [x,y,w,h],,,\n",
        },
    ),
    # kaggle.com/competitions/aptos2019-blindness-detection/data
    Row(
        "APTOS: id_code and diagnosis",
        "train_images/a.png train_images/b.png test_images/c.png",
        Read(
            {"train_images/a": "2", "train_images/b": "4", "test_images/c": None},
            {"train_images/a": "train", "train_images/b": "train", "test_images/c": "test"},
            classes=(),
        ),
        contents={
            "train.csv": "id_code,diagnosis\na,2\nb,4\n",
            "test.csv": "id_code\nc\n",
        },
    ),
    # kaggle.com/competitions/global-wheat-detection/data
    Row(
        "global wheat: a row for each box, all four numbers in a text",
        "train/a.jpg train/b.jpg test/c.jpg",
        Read(
            {"train/a": None, "train/b": None, "test/c": None},
            {"train/a": "train", "train/b": "train", "test/c": "test"},
            members={"train/a": ("json",), "train/b": ("json",), "test/c": ()},
            json={
                "train/a": {"boxes": [[834.0, 222.0, 56.0, 36.0], [226.0, 548.0, 130.0, 58.0]]}
                | {"source": ["usask_1", "usask_1"]},
            },
            ignored=frozenset({"sample_submission.csv"}),
        ),
        contents={
            "train.csv": BOXES + 'a,1024,1024,"[834.0, 222.0, 56.0, 36.0]",usask_1\n'
            'b,1024,1024,"[377.0, 504.0, 74.0, 160.0]",usask_1\n'
            'a,1024,1024,"[226.0, 548.0, 130.0, 58.0]",usask_1\n',
            "sample_submission.csv": "image_id,PredictionString\nc,1.0 0 0 50 50\n",
        },
    ),
    Row(
        "four numbers that may be two corners",
        "train/a.jpg",
        "may be two corners, or a corner, width and height. Pass --box-format",
        contents={"train.csv": 'image_id,bbox\na,"[1, 2, 30, 40]"\n'},
    ),
    Row(
        "the same, with the format said",
        "train/a.jpg",
        Read(
            {"train/a": None},
            {"train/a": "train"},
            members=("json",),
            json={"train/a": {"boxes": [[1, 2, 29, 38]]}},
        ),
        {"box_format": "xyxy"},
        {"train.csv": 'image_id,bbox\na,"[1, 2, 30, 40]"\n'},
    ),
    # kaggle.com/competitions/vinbigdata-chest-xray-abnormalities-detection/data, as png
    Row(
        "VinBigData: corners, and rows without a box",
        "train/a.png train/b.png",
        Read(
            {"train/a": None, "train/b": None},
            {"train/a": "train", "train/b": "train"},
            members=("json",),
            json={
                "train/a": {"categories": [0, 0], "rad_id": ["R10", "R9"]}
                | {"boxes": [[691.0, 1375.0, 962.0, 544.0], [700, 1400, 900, 500]]},
                "train/b": {"boxes": [], "categories": []}
                | {"image": {"class_id": "14", "rad_id": "R11", "class_name": "No finding"}},
            },
            classes=("Cardiomegaly", "No finding"),
        ),
        {"label_column": "class_name"},
        {
            "train.csv": "image_id,class_name,class_id,rad_id,x_min,y_min,x_max,y_max\n"
            "b,No finding,14,R11,,,,\na,Cardiomegaly,3,R10,691.0,1375.0,1653.0,1919.0\n"
            "a,Cardiomegaly,3,R9,700,1400,1600,1900\n",
        },
    ),
    Row(
        "VinBigData: two columns that could be the label",
        "train/a.png",
        "several columns that could be the label: 'class_name', 'class_id'.*--label-column",
        contents={
            "train.csv": "image_id,class_name,class_id,rad_id,x_min,y_min,x_max,y_max\n"
            "a,Cardiomegaly,3,R10,691.0,1375.0,1653.0,1919.0\n",
        },
    ),
    # public.roboflow.com: export "TensorFlow Object Detection CSV"
    Row(
        "Roboflow: _annotations.csv in each split",
        "train/a_jpg.rf.1.jpg train/b_jpg.rf.2.jpg valid/c_jpg.rf.3.jpg README.roboflow.txt",
        Read(
            {"train/a_jpg%2Erf%2E1": None, "train/b_jpg%2Erf%2E2": None}
            | {"valid/c_jpg%2Erf%2E3": None},
            {"train/a_jpg%2Erf%2E1": "train", "train/b_jpg%2Erf%2E2": "train"}
            | {"valid/c_jpg%2Erf%2E3": "valid"},
            members=("json",),
            json={
                "train/a_jpg%2Erf%2E1": {"boxes": [[10, 20, 30, 40], [1, 2, 3, 4]]}
                | {"categories": [0, 1]},
                "valid/c_jpg%2Erf%2E3": {"boxes": [[5, 5, 5, 5]], "categories": [1]},
            },
            classes=("helmet", "person"),
            ignored=frozenset({"README.roboflow.txt"}),
        ),
        contents={
            "train/_annotations.csv": "filename,width,height,class,xmin,ymin,xmax,ymax\n"
            "a_jpg.rf.1.jpg,416,416,helmet,10,20,40,60\na_jpg.rf.1.jpg,416,416,person,1,2,4,6\n"
            "b_jpg.rf.2.jpg,416,416,person,1,2,4,6\n",
            "valid/_annotations.csv": "filename,width,height,class,xmin,ymin,xmax,ymax\n"
            "c_jpg.rf.3.jpg,416,416,person,5,5,10,10\n",
        },
    ),
    # public.roboflow.com: export "Multi-Class CSV" (_classes.csv)
    Row(
        "Roboflow: _classes.csv, one-hot with a space before each name",
        "train/a.jpg train/b.jpg",
        Read(
            {"train/a": None, "train/b": None},
            {"train/a": "train", "train/b": "train"},
            members=("json",),
            json={"train/a": {"labels": [0, 1]}, "train/b": {"labels": [1]}},
            classes=("cat", "dog"),
        ),
        contents={"train/_classes.csv": "filename, cat, dog\na.jpg, 1, 1\nb.jpg, 0, 1\n"},
    ),
    # github.com/eg4000/SKU110K_CVPR19: annotations without a line of names
    Row(
        "SKU110K: no names of columns",
        "images/train_0.jpg",
        "its first line has data .'train_0.jpg'.*Add a line of names above it",
        contents={
            "annotations/annotations_train.csv": "train_0.jpg,208,537,422,814,object,3024,3024\n"
        },
    ),
    # github.com/datitran/raccoon_dataset: data/train_labels.csv
    Row(
        "raccoon: train_labels.csv and test_labels.csv for one folder",
        "images/raccoon-1.jpg images/raccoon-2.jpg",
        Read(
            {"images/raccoon-1": "raccoon", "images/raccoon-2": "raccoon"},
            {"images/raccoon-1": "train", "images/raccoon-2": "test"},
            members=("json",),
            json={"images/raccoon-1": {"boxes": [[81, 88, 441, 320]], "categories": [0]}},
        ),
        contents={
            "data/train_labels.csv": "filename,width,height,class,xmin,ymin,xmax,ymax\n"
            "raccoon-1.jpg,650,417,raccoon,81,88,522,408\n",
            "data/test_labels.csv": "filename,width,height,class,xmin,ymin,xmax,ymax\n"
            "raccoon-2.jpg,800,573,raccoon,60,51,462,499\n",
        },
    ),
    # kaggle.com/competitions/severstal-steel-defect-detection/data
    Row(
        "Severstal: a row for each outline",
        "train_images/a.jpg train_images/b.jpg test_images/c.jpg",
        Read(
            {"train_images/a": None, "train_images/b": None, "test_images/c": None},
            {"train_images/a": "train", "train_images/b": "train", "test_images/c": "test"},
            members={"train_images/a": ("json",), "train_images/b": ("json",)}
            | {"test_images/c": ()},
            json={
                "train_images/a": {"categories": [1, 3], "EncodedPixels": ["29102 12", "9 1"]},
            },
            classes=("0", "1", "2", "3"),
            ignored=frozenset({"sample_submission.csv"}),
        ),
        contents={
            "train.csv": "ImageId,ClassId,EncodedPixels\na.jpg,1,29102 12\na.jpg,3,9 1\n"
            "b.jpg,3,8458 14\n",
            "sample_submission.csv": "ImageId,EncodedPixels,ClassId\nc.jpg,1 409600,1\n",
        },
    ),
    # kaggle.com/competitions/airbus-ship-detection/data
    Row(
        "Airbus ships: outlines without classes, and images without any",
        "train_v2/a.jpg train_v2/b.jpg test_v2/c.jpg",
        Read(
            {"train_v2/a": None, "train_v2/b": None, "test_v2/c": None},
            {"train_v2/a": "train", "train_v2/b": "train", "test_v2/c": "test"},
            members={"train_v2/a": ("json",), "train_v2/b": ("json",), "test_v2/c": ()},
            json={
                "train_v2/a": {"EncodedPixels": ["264661 17", "360486 1"]},
                "train_v2/b": {"EncodedPixels": []},
            },
            ignored=frozenset({"sample_submission_v2.csv"}),
        ),
        contents={
            "train_ship_segmentations_v2.csv": "ImageId,EncodedPixels\nb.jpg,\na.jpg,264661 17\n"
            "a.jpg,360486 1\n",
            "sample_submission_v2.csv": "ImageId,EncodedPixels\nc.jpg,1 2\n",
        },
    ),
    # kaggle.com/competitions/humpback-whale-identification/data
    Row(
        "humpback whales: Image and Id",
        "train/0000e88ab.jpg train/0001f9222.jpg test/00028a005.jpg",
        Read(
            {"train/0000e88ab": "w_f48451c", "train/0001f9222": "w_c3d896a"}
            | {"test/00028a005": None},
            {"train/0000e88ab": "train", "train/0001f9222": "train", "test/00028a005": "test"},
        ),
        {"label_column": "Id"},
        {"train.csv": "Image,Id\n0000e88ab.jpg,w_f48451c\n0001f9222.jpg,w_c3d896a\n"},
    ),
    # kaggle.com/competitions/landmark-recognition-2021/data
    Row(
        "landmarks: images in folders of the first letters of their ids",
        "train/0/0/0/000aa.jpg train/f/0/1/f01bb.jpg test/0/0/1/001cc.jpg",
        Read(
            {"train/0/0/0/000aa": "7", "train/f/0/1/f01bb": "9", "test/0/0/1/001cc": None},
            {"train/0/0/0/000aa": "train", "train/f/0/1/f01bb": "train"}
            | {"test/0/0/1/001cc": "test"},
            classes=(),
            ignored=frozenset({"sample_submission.csv"}),
        ),
        contents={
            "train.csv": "id,landmark_id\n000aa,7\nf01bb,9\n",
            "sample_submission.csv": "id,landmarks\n001cc,1 0.1\n",
        },
    ),
    # kaggle.com/datasets/kmader/skin-cancer-mnist-ham10000
    Row(
        "HAM10000: images in two parts",
        "HAM10000_images_part_1/ISIC_1.jpg HAM10000_images_part_2/ISIC_2.jpg",
        Read(
            {"HAM10000_images_part_1/ISIC_1": "bkl", "HAM10000_images_part_2/ISIC_2": "nv"},
            members=("json",),
            json={"HAM10000_images_part_1/ISIC_1": {"age": "80.0", "dx_type": "histo"}},
            ignored=frozenset({"hmnist_28_28_L.csv"}),
        ),
        contents={
            "HAM10000_metadata.csv": "lesion_id,image_id,dx,dx_type,age,sex,localization\n"
            "HAM_1,ISIC_1,bkl,histo,80.0,male,scalp\nHAM_2,ISIC_2,nv,histo,,female,back\n",
            "hmnist_28_28_L.csv": "pixel0000,pixel0001,label\n169,171,2\n23,21,2\n",
        },
    ),
    # challenge.isic-archive.com: ISIC2018_Task3_Training_GroundTruth.csv
    Row(
        "ISIC 2018: 0.0 and 1.0 in a column for each class",
        "ISIC2018_Task3_Training_Input/ISIC_1.jpg ISIC2018_Task3_Training_Input/ISIC_2.jpg "
        "ISIC2018_Task3_Training_Input/LICENSE.txt",
        Read(
            {"ISIC2018_Task3_Training_Input/ISIC_1": "NV"}
            | {"ISIC2018_Task3_Training_Input/ISIC_2": "MEL"},
            {"ISIC2018_Task3_Training_Input/ISIC_1": "train"}
            | {"ISIC2018_Task3_Training_Input/ISIC_2": "train"},
            classes=("MEL", "NV", "BCC"),
            ignored=frozenset({"ISIC2018_Task3_Training_Input/LICENSE.txt"}),
        ),
        contents={
            "ISIC2018_Task3_Training_GroundTruth.csv": "image,MEL,NV,BCC\n"
            "ISIC_1,0.0,1.0,0.0\nISIC_2,1.0,0.0,0.0\n",
        },
    ),
    # kaggle.com/competitions/petfinder-pawpularity-score/data
    Row(
        "Pawpularity: columns of 0 and 1 beside the number that is looked for",
        "train/a.jpg train/b.jpg",
        Read(
            {"train/a": None, "train/b": None},
            {"train/a": "train", "train/b": "train"},
            members=("json",),
            json={"train/a": {"Eyes": "1", "Face": "0", "Pawpularity": "63"}},
        ),
        contents={"train.csv": "Id,Eyes,Face,Pawpularity\na,1,0,63\nb,1,1,42\n"},
    ),
    Row(
        "a label with fractions",
        "1.jpg 2.jpg",
        "labels such as 0.37: numbers with fractions are not classes. .* --label-column none",
        contents={"train.csv": "image,target\n1.jpg,0.37\n2.jpg,1\n"},
    ),
    # kaggle.com/competitions/ranzcr-clip-catheter-line-classification/data
    Row(
        "RANZCR: columns of 0 and 1 beside a patient's name",
        "train/1.2.826.1.jpg train/1.2.826.2.jpg test/1.2.826.3.jpg",
        Read(
            {"train/1%2E2%2E826%2E1": None, "train/1%2E2%2E826%2E2": None}
            | {"test/1%2E2%2E826%2E3": None},
            {"train/1%2E2%2E826%2E1": "train", "train/1%2E2%2E826%2E2": "train"}
            | {"test/1%2E2%2E826%2E3": "test"},
            members={"train/1%2E2%2E826%2E1": ("json",), "train/1%2E2%2E826%2E2": ("json",)}
            | {"test/1%2E2%2E826%2E3": ()},
            json={
                "train/1%2E2%2E826%2E1": {"labels": [0, 2], "PatientID": "ec89415d1"},
                "train/1%2E2%2E826%2E2": {"labels": []},
            },
            classes=("ETT - Abnormal", "NGT - Normal", "CVC - Normal"),
        ),
        contents={
            "train.csv": "StudyInstanceUID,ETT - Abnormal,NGT - Normal,CVC - Normal,PatientID\n"
            "1.2.826.1,1,0,1,ec89415d1\n1.2.826.2,0,0,0,bf4c6da3c\n",
        },
    ),
    # kaggle.com/datasets/adityajn105/flickr8k
    Row(
        "Flickr8k: five captions for each image, in captions.txt",
        "Images/1.jpg Images/2.jpg",
        Read(
            {"Images/1": None, "Images/2": None},
            members=("json",),
            json={"Images/1": {"caption": ["A dog .", "A brown dog ."]}},
        ),
        contents={
            "captions.csv": "image,caption\n1.jpg,A dog .\n1.jpg,A brown dog .\n2.jpg,A cat .\n",
        },
    ),
    # kaggle.com/datasets/gpiosenka/cards-image-datasetclassification
    Row(
        "cards: folders of classes, and a table that says the same",
        "train/ace_of_clubs/001.jpg valid/joker/002.jpg",
        Read(
            {"train/ace_of_clubs/001": "ace of clubs", "valid/joker/002": "joker"},
            {"train/ace_of_clubs/001": "train", "valid/joker/002": "valid"},
            members=("json",),
            json={"train/ace_of_clubs/001": {"card type": "ace", "class index": "0"}},
        ),
        {"kind": "table"},
        {
            "cards.csv": CARDS + "0,train/ace_of_clubs/001.jpg,ace of clubs,ace,train\n"
            "1,valid/joker/002.jpg,joker,joker,valid\n",
        },
    ),
    # kaggle.com/datasets/meowmeowmeowmeowmeow/gtsrb-german-traffic-sign
    Row(
        "GTSRB: folders of classes, and tables that name their images",
        "Train/0/a.png Train/20/b.png Test/c.png Meta/0.png",
        Read(
            {"Train/0/a": "0", "Train/20/b": "20", "Test/c": "16"},
            {"Train/0/a": "train", "Train/20/b": "train", "Test/c": "test"},
            members=("json",),
            json={"Train/20/b": {"Width": "27", "Roi.X1": "5"}},
            classes=(),
            rejected=frozenset({"Meta/"}),
        ),
        contents={
            "Train.csv": "Width,Height,Roi.X1,Roi.Y1,Roi.X2,Roi.Y2,ClassId,Path\n"
            "27,26,5,5,22,20,20,Train/20/b.png\n28,27,5,6,23,22,0,Train/0/a.png\n",
            "Test.csv": "Width,Height,Roi.X1,Roi.Y1,Roi.X2,Roi.Y2,ClassId,Path\n"
            "53,54,6,5,48,49,16,Test/c.png\n",
        },
    ),
    Row(
        "folders of classes, and a table that says something else",
        "cat/1.jpg dog/2.jpg",
        r"folders of classes, such as cat.*--as folder.*images that extra.csv.*--as table",
        contents={"extra.csv": "file,label\ncat/1.jpg,tabby\ndog/2.jpg,pug\n"},
    ),
    Row(
        "two tables of the same images",
        "train/1.jpg",
        r"both name 1 of the images. Pack the one that has the labels",
        contents={
            "train.csv": "image_id,label\n1.jpg,cat\n",
            "train_folds.csv": "image_id,label,fold\n1.jpg,cat,0\n",
        },
    ),
    Row(
        "pandas' index, semicolons, a byte order mark and backslashes",
        "img/cat/1.jpg img/dog/2.jpg",
        Read(
            {"img/cat/1": "cat", "img/dog/2": "dog"},
            ignored=frozenset({"labels.csv: column 1"}),
        ),
        contents={
            "labels.csv": "\ufeff;path;label\r\n0;img\\cat\\1.jpg;cat\r\n1;img\\dog\\2.jpg;dog\r\n"
        },
    ),
    Row(
        "tabs",
        "1.jpg 2.jpg",
        Read({"1": "cat", "2": "dog"}),
        contents={"labels.tsv": "file\tlabel\n1.jpg\tcat\n2.jpg\tdog\n"},
    ),
    Row(
        "paths of another machine",
        "train/1.jpg",
        r"names '/kaggle/input/pets/train/1.jpg', which does not exist.*--root",
        contents={"train.csv": "path,label\n/kaggle/input/pets/train/1.jpg,cat\n"},
    ),
    Row(
        "the same, with the folder said",
        "train/1.jpg",
        Read({"train/1": "cat"}, {"train/1": "train"}),
        {"root": "src"},
        {"train.csv": "path,label\n/kaggle/input/pets/train/1.jpg,cat\n"},
    ),
    Row(
        "a table of images that are not here",
        "train/1.jpg",
        "names images such as 'a.jpg', and none of the first 2 is in .*--root",
        contents={"train.csv": "filename,label\na.jpg,cat\nb.jpg,dog\n"},
    ),
    Row(
        "a table whose images are in other folders",
        "a/1.jpg a/2.jpg b/2.jpg",
        "a/1.jpg has the name of 'z/1.jpg', but another folder. Correct the folders",
        contents={"train.csv": "filename,label\nz/1.jpg,cat\nz/2.jpg,dog\n"},
    ),
    Row(
        "a table of ids, of which most are not here",
        "train/1.jpg train/2.jpg",
        "names an image for 33% of its first 3 rows. If it is the column.*--image-column id",
        contents={"train.csv": "id,label\n1,cat\na,dog\nb,dog\n"},
    ),
    Row(
        "a label that one of two tables has",
        "train/1.jpg test/2.jpg",
        Read(
            {"train/1": "cat", "test/2": None},
            {"train/1": "train", "test/2": "test"},
        ),
        {"label_column": "kind"},
        {"train.csv": "file,kind\n1.jpg,cat\n", "test.csv": "file\n2.jpg\n"},
    ),
    Row(
        "a column that no table has",
        "train/1.jpg",
        "No table of .* has a column 'kinds'",
        {"label_column": "kinds"},
        {"train.csv": "file,kind\n1.jpg,cat\n"},
    ),
    Row(
        "several labels of one image in rows of their own",
        "1.jpg 2.jpg",
        "1 image has several rows with different labels, such as 'cat' and 'dog'",
        contents={"train.csv": "image,label\n1.jpg,cat\n1.jpg,dog\n2.jpg,cat\n"},
    ),
    Row(
        "an id of two images",
        "a/1.jpg b/1.jpg",
        "may be a/1.jpg or b/1.jpg. Pass .* with --root",
        contents={"list.csv": "id,label\n1,cat\n"},
    ),
    Row(
        "labels that are missing",
        "1.jpg 2.jpg 3.jpg",
        Read({"1": "cat", "2": None, "3": None}),
        contents={"list.csv": "image,label\n1.jpg,cat\n2.jpg,\n3.jpg,NaN\n"},
    ),
    Row(
        "images that are not listed, and rows without their image",
        "1.jpg 2.jpg",
        Read({"1": "cat"}, rejected=frozenset({"2.jpg", "list.csv:3"})),
        contents={"list.csv": "image,label\n1.jpg,cat\n3.jpg,cat\n"},
    ),
]

import pytest

from packer.sources.trees.names import (
    are_counters,
    chunks,
    endings,
    glued,
    have_roles,
    infixes,
    is_role,
    share_a_word,
    windows,
)


@pytest.mark.parametrize(
    ("stems", "expected"),
    [
        (("1", "2", "3"), True),
        (("image_0001", "image_0003", "image_0002"), True),
        (("00000", "00005", "00010"), True),  # frames
        (("cat/1", "cat/2", "dog/1"), True),
        (("a", "b", "c"), True),
        (("100034", "10233", "103"), False),
        (("cat_1", "dog_2"), False),
        (("7f3a", "91bc"), False),
    ],
)
def test_counters(stems: tuple[str, ...], expected: bool) -> None:
    assert are_counters(stems) is expected


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("A", "B", "label"), True),
        (("HR", "LR2"), True),
        (("images", "images_2", "images_4"), True),
        (("images_128", "images_256"), True),
        (("original", "resized"), True),
        (("ISIC_Input", "ISIC_GroundTruth"), True),
        (("mask", "no_mask"), False),
        (("with_mask", "without_mask"), False),
        (("A", "B", "C"), False),  # letters
        (("label", "price_tag"), False),
        (("cat", "dog"), False),
    ],
)
def test_roles_of_pictures_are_no_classes(names: tuple[str, ...], expected: bool) -> None:
    assert have_roles(names) is expected


def test_one_role() -> None:
    assert is_role("thumbs")
    assert is_role("my_thumbnails")
    assert not is_role("kittens")


def test_a_word_in_common() -> None:
    assert share_a_word(["ds1", "ds2"])
    assert share_a_word(["DUTS-TR", "DUTS-TE"])
    assert not share_a_word(["COVID", "Normal"])


@pytest.mark.parametrize(
    "names",
    [
        ("0", "1", "2", "9"),
        ("00", "01", "02"),
        ("001.Black_footed_Albatross", "002.Laysan_Albatross"),
        ("n01440764", "n01443537"),
        ("n000001", "n000002"),
        ("10", "20", "30"),
        ("class_0", "class_1"),
        ("s1", "s2", "s40"),
        ("id_00000002", "id_00000080"),
        ("be", "de", "fe"),
        ("30", "4a", "7a"),  # codes of letters
        ("Acura TL Sedan 2012", "Audi 100 Sedan 1994"),
        ("cat", "dog"),
        ("2021-03-01",),
    ],
)
def test_names_of_classes_are_no_chunks(names: tuple[str, ...]) -> None:
    assert chunks(names, lambda name: [(name, "0001"), (name, "0002")]) == ""


@pytest.mark.parametrize(
    "names",
    [
        ("chunk_000", "chunk_001"),
        ("part1", "part2"),
        ("images_001", "images_002"),
        ("00000", "01000", "02000"),
        ("2021-03-01", "2021-03-02"),
        ("20210301", "20210302"),
        ("Berlin, 3 May 2023", "Oslo, 14 May 2023"),
        ("2019", "2020"),
    ],
)
def test_chunks(names: tuple[str, ...]) -> None:
    assert chunks(names, lambda name: [(name, "IMG_1")])


def test_chunks_by_what_they_hold() -> None:
    stems = {"00": ["000", "001"], "01": ["002", "003"]}
    assert "throughout" in chunks(("00", "01"), lambda name: [(name, s) for s in stems[name]])
    hashed = {"0a": [("0a/1f", "0a1f9c"), ("0a/22", "0a2210")], "ff": [("ff/01", "ff01ab")]}
    assert "first letters" in chunks(("0a", "ff"), hashed.__getitem__)


def test_endings_of_the_pictures_of_one_sample() -> None:
    pairs = [f"{n}_{kind}" for n in (103, 10233) for kind in ("mask.png", "sat.jpg")]
    assert endings([pairs]) == ("_mask.png", "_sat.jpg")
    assert endings([[*pairs, "7_sat.jpg"]]) == ("_mask.png", "_sat.jpg")
    observers = ["1.jpg", "1_1stHO.png", "1_2ndHO.png", "2.jpg", "2_1stHO.png", "2_2ndHO.png"]
    assert endings([observers]) == (".jpg", "_1stHO.png", "_2ndHO.png")
    augmented = ["0.jpg", "0_aug_0.jpg", "0_aug_1.jpg", "1.jpg", "1_aug_0.jpg", "1_aug_1.jpg"]
    for others in (augmented, ["1.jpg", "2.jpg", "1_thumb.jpg"], ["cat_1.jpg", "cat_2.jpg"], []):
        assert endings([others]) == ()


def test_endings_in_a_folder_of_many_pictures() -> None:
    names = sorted(f"{n:06}{end}" for n in range(5000) for end in (".jpg", ".png"))
    assert len(windows(names)) < 1000
    assert endings([windows(names)]) == (".jpg", ".png")


def test_words_within_the_names_of_pictures_of_one_sample() -> None:
    names = sorted(f"0001_{kind}_SRGB_{n:03}.png" for kind in ("GT", "NOISY") for n in range(3))
    assert infixes(names) == ("_GT_", "_NOISY_")
    assert infixes(["a_GT_1.png", "a_GT_2.png", "b_GT_1.png", "b_NOISY_9.png"]) == ()
    assert infixes(["1.png"]) == ()


@pytest.mark.parametrize(
    ("folders", "expected"),
    [
        ([["1r.png", "1d.tiff", "2r.png", "2d.tiff", "3r.png", "3d.tiff"]], {"*r.png", "*d.tiff"}),
        ([["1.png", "1m.png", "2.png", "2m.png"], ["3.png", "3m.png"]], {"*.png", "*m.png"}),
        (
            [[f"{name}{end}" for name in ("ox", "elk", "emu") for end in (".jpg", "GT.png")]],
            {"*.jpg", "*GT.png"},
        ),
        ([["c1.png", "d1.png", "c2.png", "d2.png", "c3.png", "d3.png"]], {"c*.png", "d*.png"}),
        ([["1a.png", "1b.png", "2a.png", "3a.png", "3b.png"]], set()),
        ([["1.png", "2.png", "3.png"]], set()),
        ([["cat1.png", "cat2.png"], ["dog1.png", "dog2.png"]], set()),
    ],
)
def test_letters_are_glued_to_what_nearly_all_samples_share(
    folders: list[list[str]], expected: set[str]
) -> None:
    assert {*glued(folders, has_begins=True)} == expected


def test_letters_before_numbers_are_left_out() -> None:
    names = [f"{word}{n}.png" for word in ("cat", "dog") for n in range(4)]
    assert glued([names], has_begins=False) == ()

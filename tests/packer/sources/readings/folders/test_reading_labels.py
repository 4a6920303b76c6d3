"""Masks and labels in folders of their own belong to images elsewhere: Oxford-IIIT Pet."""

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from called_packer import call_packer
from PIL import Image

import reader

OPTIONS = ("--png", "verbatim", "--jobs", 1)
BREEDS = {"Abyssinian": 1, "american_bulldog": 2, "Bengal": 3, "great_pyrenees": 4}
COMMENTS = "#Image CLASS-ID SPECIES BREED ID\n#ID: 1:37 Class ids\n#SPECIES: 1:Cat 2:Dog\n"
BOX = "<bndbox><xmin>5</xmin><ymin>6</ymin><xmax>25</xmax><ymax>30</ymax></bndbox>"


class Pet(NamedTuple):
    breed: str
    line: str
    split: str
    mask: bytes
    xml: bytes | None


@pytest.fixture
def pets(tmp_path: Path) -> Callable[[str], tuple[Path, dict[str, Pet]]]:
    """Make Oxford-IIIT Pet in miniature, with its annotations in a folder of this name."""

    def make(annotations: str) -> tuple[Path, dict[str, Pet]]:
        src, found = tmp_path / "pets", {}
        for folder in ("images", f"{annotations}/trimaps", f"{annotations}/xmls"):
            (src / folder).mkdir(parents=True)
        for breed, number in BREEDS.items():
            for at in range(6):
                name, rng = f"{breed}_{100 + at}", np.random.default_rng(10 * number + at)
                photo = rng.integers(0, 255, (20, 24, 3)).astype(np.uint8)
                Image.fromarray(photo).save(src / f"images/{name}.jpg")
                mask = src / annotations / f"trimaps/{name}.png"
                Image.fromarray(rng.integers(1, 4, (20, 24)).astype(np.uint8)).save(mask)
                xml = src / annotations / f"xmls/{name}.xml"
                if at < 3:
                    xml.write_text(
                        f"<annotation><filename>{name}.jpg</filename><object><name>cat</name>"
                        f"{BOX}</object></annotation>"
                    )
                split, species = ("test" if at > 3 else "trainval"), 1 + breed[0].islower()
                own = xml.read_bytes() if at < 3 else None
                line = f"{number} {species} {number}"
                found[name] = Pet(breed, line, split, mask.read_bytes(), own)
        for split in ("trainval", "test", "list"):
            lines = [f"{n} {p.line}" for n, p in found.items() if split in (p.split, "list")]
            head = COMMENTS if split == "list" else ""
            (src / annotations / f"{split}.txt").write_text(head + "\n".join(lines) + "\n")
        return src, found

    return make


def check(packed: Path, truth: dict[str, Pet], label: Callable[[Pet], str]) -> None:
    seen = []
    for split in ("trainval", "test"):
        dataset = reader.Dataset(packed, split)
        for number, target in enumerate(dataset.targets):
            name = dataset.keys[number].rpartition("/")[2]
            pet, (shard, row) = truth[name], dataset.locate(number)
            assert (pet.split, label(pet)) == (split, dataset.classes[int(target)])
            assert shard.read(row, "mask.png") == pet.mask
            has_xml = shard.index.span("xml", row) is not None
            assert (shard.read(row, "xml") if has_xml else None) == pet.xml
            seen.append(name)
    assert sorted(seen) == sorted(truth)


def test_the_archive_as_it_is_is_read_at_once(pets: Any, tmp_path: Path) -> None:
    src, truth = pets("annotations")
    (src / "annotations/trimaps/._Abyssinian_100.png").write_bytes(b"\0\5\x16\7" + bytes(99))
    done = call_packer("pack", src, tmp_path / "out", *OPTIONS)
    assert done.returncode == 0, done.stderr
    check(tmp_path / "out", truth, lambda pet: pet.breed)


@pytest.mark.parametrize("folder", ["info", "annotations/annotations"])
def test_in_other_folders_the_printed_commands_pack_all_of_it(
    pets: Any, tmp_path: Path, folder: str
) -> None:
    src, truth = pets(folder)
    done = call_packer("pack", src, tmp_path / "out", *OPTIONS)
    assert done.returncode == 2
    commands = re.findall(r"have mask.*: packer (.*label\}.*)", done.stderr)
    done = call_packer(*shlex.split(commands[0]))
    assert done.returncode == 0, done.stderr
    check(tmp_path / "out", truth, lambda pet: pet.line.split()[0])

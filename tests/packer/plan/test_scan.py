from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from packer.errors import BadImage
from packer.options.declared import PackOptions
from packer.plan.scan import Scanned, scan
from packer.progress import Progress
from packer.samples.places import Spool
from packer.samples.records import Content, Facts, Sample, Skipped


@dataclass
class Given:
    """A source of these records and images."""

    records: Sequence[Sample | Skipped]
    images: dict[str, bytes] = field(default_factory=dict)
    classes: tuple[str, ...] = ()
    facts: Facts = field(default_factory=Facts)
    reads: Counter[str] = field(default_factory=Counter)

    @property
    def files(self) -> "Given":
        return self

    late, identity = None, ""

    def with_spool(self, path: Path | None) -> "Given":
        return self

    def member_files(self, sample: Sample) -> Sequence[str]:
        return ()

    def scan(self) -> Iterator[Sample | Skipped]:
        return iter(self.records)

    def read(self, sample: Sample) -> Content:
        self.reads[sample.name] += 1
        if sample.name not in self.images:
            raise BadImage("it is gone")
        return Content(self.images[sample.name])


def sample(name: str, **values: object) -> Sample:
    given = {"key": name, "label": -1, "size": 1, "mtime_ns": 0} | values
    return Sample(name, **given)  # type: ignore[arg-type]


def scanned(source: Given, **options: object) -> Scanned:
    with Spool(Path("nothing is made")) as spool:
        _, arranged, _ = PackOptions(**options).planning  # type: ignore[arg-type]
        return scan(source, arranged, Progress(quiet=True), spool=spool)


def names(result: Scanned) -> list[str]:
    return [item.name for item in result.listing]


def test_a_key_comes_once_and_the_second_is_named() -> None:
    result = scanned(Given([sample("a"), sample("b", key="a"), sample("c"), Skipped("d", "why")]))
    assert names(result) == ["a", "c"]
    left = {item.name: item.reason for item in result.listing.skipped}
    assert set(left) == {"b", "d"}
    assert "that of 'a'" in left["b"]


def test_dedupe_leaves_out_the_later_of_equal_images_and_reads_no_other() -> None:
    samples = [sample(name, size=3 + (name == "d")) for name in "abcd"]
    source = Given(samples, {"a": b"one", "b": b"two", "c": b"one"})
    result = scanned(source, dedupe=True)
    assert names(result) == ["a", "b", "d"]
    (copy,) = result.listing.skipped
    assert (copy.name, copy.ignored) == ("c", True)
    assert "those of 'a'" in copy.reason
    assert source.reads == {"a": 1, "b": 1, "c": 1}


def test_dedupe_says_of_a_copy_that_it_contradicts_the_image_that_is_packed() -> None:
    records = [sample("a", label=0), sample("b", label=1), sample("c", label=0)]
    result = scanned(Given(records, dict.fromkeys("abc", b"one")), dedupe=True)
    left = {item.name: item.reason for item in result.listing.skipped}
    assert "its class is" in left["b"]
    assert "its class is" not in left["c"]
    assert any("A skipped copy contradicts" in remark for remark in result.remarks)


def test_dedupe_leaves_what_cannot_be_read_to_the_packing() -> None:
    assert names(scanned(Given([sample("a"), sample("b")]), dedupe=True)) == ["a", "b"]


def test_images_with_other_members_are_copies_all_the_same() -> None:
    records = [sample("a", size=3), sample("b", size=9, members=("json",))]
    result = scanned(Given(records, {"a": b"one", "b": b"one"}), dedupe=True)
    assert names(result) == ["a"]


def test_a_split_by_shares_is_near_them_and_does_not_move_when_the_set_grows() -> None:
    shares = {"train": 0.8, "val": 0.2}
    small = scanned(Given([sample(str(n)) for n in range(1000)]), split=shares)
    large = scanned(Given([sample(str(n)) for n in range(3000)]), split=shares)
    of = {item.key: item.split for item in large.listing}
    assert all(of[item.key] == item.split for item in small.listing)
    assert 0.77 < Counter(of.values())["train"] / 3000 < 0.83
    assert set(of.values()) == {"train", "val"}


def test_classes_without_names_are_numbered() -> None:
    assert scanned(Given([sample("a", label=2), sample("b")])).classes == ("0", "1", "2")
    assert scanned(Given([sample("a")])).classes == ()
    assert scanned(Given([sample("a", label=0)], classes=("cat",))).classes == ("cat",)


@pytest.mark.parametrize("options", [{}, {"dedupe": True}, {"split": {"a": 0.5, "b": 0.5}}])
def test_a_source_of_nothing_gives_an_empty_listing(options: dict[str, object]) -> None:
    assert len(scanned(Given([]), **options).listing) == 0

"""Which objects a folder can have, whatever they are called."""

from packer.storage.objects import mtime_ns, version, wanted
from reader.store.transport import Listed

SOME = Listed(5, '"1"', 1_700_000_000_000_000_000)


def reasons(*names: str, is_folded: bool = False) -> dict[str, str]:
    _, skipped = wanted(dict.fromkeys(names, SOME), is_folded=is_folded)
    return {item.name: item.reason for item in skipped}


def test_names_that_lead_outside_or_hold_nul_are_skipped_with_a_reason() -> None:
    names = ["../x", "a/../x", "/x", "a//x", "./x", "a\0b", "a/" * 2100 + "x", "\udcff.jpg"]
    assert sorted(reasons(*names, "sound.jpg")) == sorted(names)


def test_of_names_that_one_disk_takes_for_the_same_one_is_fetched() -> None:
    names = ["a/x.jpg", "A/y.jpg", "b/Z.jpg", "b/z.jpg", "c/é", "c/e\u0301"]
    assert not reasons(*names)
    assert sorted(reasons(*names, is_folded=True)) == ["a/x.jpg", "b/z.jpg", "c/é"]


def test_the_place_itself_is_no_object_and_the_others_keep_an_order() -> None:
    found, skipped = wanted({"": SOME, "b": SOME, "a": SOME}, is_folded=False)
    assert list(found) == ["a", "b"]
    assert not skipped


def test_each_version_has_a_time_of_its_own_and_none_is_later_than_the_store_says() -> None:
    versions = [Listed(5, f'"{tag}"', SOME.mtime_ns) for tag in range(100)]
    times = {mtime_ns(listed) for listed in versions}
    assert len(times) == 100
    assert all(SOME.mtime_ns - 10**9 <= time < SOME.mtime_ns for time in times)
    assert len({version({"a": listed}) for listed in versions}) == 100

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_images import encode, make_image

from packer.images import jpeg


@pytest.fixture(scope="module")
def photo() -> bytes:
    return encode(make_image(1, 61, 83), "JPEG", quality=90, subsampling="4:2:0")


def test_the_header_tells_the_size_and_where_it_stands(photo: bytes) -> None:
    header = jpeg.read_header(photo)
    assert (header.height, header.width, header.precision) == (61, 83, 8)
    at = header.frame_offset
    assert photo[at : at + 4] == bytes([0, 61, 0, 83])


@pytest.mark.parametrize(
    ("options", "process"), [({}, 0xC0), ({"progressive": True}, 0xC2)], ids=str
)
def test_the_header_tells_the_process(options: dict[str, bool], process: int) -> None:
    assert jpeg.read_header(encode(make_image(1), "JPEG", **options)).process == process


@pytest.mark.parametrize(
    ("mode", "subsampling", "sampling"),
    [
        ("L", -1, ((1, 1),)),
        ("RGB", "4:4:4", ((1, 1), (1, 1), (1, 1))),
        ("RGB", "4:2:2", ((2, 1), (1, 1), (1, 1))),
        ("RGB", "4:2:0", ((2, 2), (1, 1), (1, 1))),
    ],
)
def test_the_header_tells_the_sampling(
    mode: str, subsampling: str | int, sampling: tuple[tuple[int, int], ...]
) -> None:
    data = encode(make_image(1, mode=mode), "JPEG", subsampling=subsampling)
    assert jpeg.read_header(data).sampling == sampling


def test_the_header_tells_the_restart_interval(photo: bytes) -> None:
    with_restarts = encode(make_image(1), "JPEG", restart_marker_blocks=3)
    assert jpeg.read_header(with_restarts).restart_interval == 3
    assert jpeg.read_header(photo).restart_interval == 0


def test_the_scan_begins_after_the_header_of_the_scan(photo: bytes) -> None:
    header = jpeg.read_header(photo)
    start = photo.rindex(b"\xff\xda", 0, header.scan_offset)
    length = int.from_bytes(photo[start + 2 : start + 4], "big")
    assert header.scan_offset == start + 2 + length


def test_fill_bytes_before_a_marker_are_passed_over(photo: bytes) -> None:
    filled = photo[:2] + b"\xff\xff\xff" + photo[2:]
    header = jpeg.read_header(filled)
    assert (header.height, header.width) == (61, 83)
    assert header.scan_offset == jpeg.read_header(photo).scan_offset + 3


def test_a_header_cut_short_anywhere_is_refused(photo: bytes) -> None:
    for length in range(jpeg.read_header(photo).scan_offset):
        with pytest.raises(ValueError, match=r"."):
            jpeg.read_header(photo[:length])


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x89PNG\r\n\x1a\n",
        b"\xff\xd8\xff\xd8\xff\xd9",
        b"\xff\xd8\xff\xd9" + bytes(20),
        b"\xff\xd8\xff\xda\x00\x08\x01\x01\x00\x00\x3f\x00" + bytes(20),
        b"\xff\xd8\xff\xc0\x00\x02\xff\xda\x00\x02" + bytes(20),
        b"\xff\xd8\xff\xc0\x00\x01" + bytes(20),
    ],
)
def test_a_header_against_the_standard_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        jpeg.read_header(data)


def test_a_plain_stream_has_its_end_marker(photo: bytes) -> None:
    header = jpeg.read_header(photo)
    assert jpeg.is_plain(photo, header)
    assert jpeg.is_plain(photo + b"appended", header)
    assert not jpeg.is_plain(photo[:-2], header)
    assert not jpeg.is_plain(photo[: header.scan_offset], header)


def test_the_end_of_a_thumbnail_in_the_header_makes_no_stream_plain() -> None:
    thumbnail = encode(make_image(2, 16, 16), "JPEG")
    data = encode(make_image(1), "JPEG", exif=b"Exif\0\0" + thumbnail)
    header = jpeg.read_header(data)
    assert data.index(b"\xff\xd9") < header.scan_offset
    assert jpeg.is_plain(data, header)
    assert not jpeg.is_plain(data[:-2], header)


@given(
    st.lists(st.sampled_from([b"\xff", b"\0", b"\xd0", b"\xd7", b"\xd9", b"\xcf", b"\xd8", b"a"])),
    st.integers(0, 5),
)
def test_a_marker_in_a_scan_is_no_stuffing_and_no_restart(parts: list[bytes], start: int) -> None:
    data = bytes(start) + b"".join(parts)
    marker = re.compile(rb"\xff[^\x00\xd0-\xd7]", re.DOTALL).search(data, start)
    assert jpeg.next_marker(data, start) == (marker.start() if marker else len(data))


def test_bare_is_what_has_nothing_but_tables_jfif_icc_and_comments(photo: bytes) -> None:
    commented = encode(make_image(1), "JPEG", comment=b"hello", restart_marker_blocks=2)
    with_icc = encode(make_image(1), "JPEG", icc_profile=bytes(70_000))  # in two parts
    exif = encode(make_image(1), "JPEG", exif=b"Exif\0\0" + bytes(20))
    icc_cut_short = photo[:2] + b"\xff\xe2\0\x0fICC_PROFILE\0\1" + photo[2:]
    several = photo[:2] + b"\xff\xe2\0\x10MPF\0" + bytes(10) + photo[2:]
    odd = [photo[:2] + b"\xff" + photo[2:], photo.replace(b"JFIF\0", b"JFXX\0"), exif]

    def is_bare(data: bytes) -> bool:
        return jpeg.is_bare(data, jpeg.read_header(data))

    assert all(map(is_bare, [photo, commented, with_icc]))
    assert not any(map(is_bare, [*odd, icc_cut_short, several]))

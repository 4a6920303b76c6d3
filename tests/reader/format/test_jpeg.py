"""What a JPEG says before its first scan, as libjpeg-turbo reads it."""

from itertools import pairwise

import pytest
import simplejpeg
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from made_images import encode, make_image

from reader.format.jpeg import first_frame, mcu_size, segments_of


@pytest.fixture(scope="module")
def jpeg() -> bytes:
    return encode(make_image(1, 61, 83), "JPEG", comment=b"in the way", subsampling="4:2:0")


def test_the_frame_tells_process_size_and_sampling(jpeg: bytes) -> None:
    frame = first_frame(jpeg)
    assert (frame.process, frame.precision, frame.height, frame.width) == (0xC0, 8, 61, 83)
    assert frame.sampling == ((2, 2), (1, 1), (1, 1))
    assert jpeg[frame.offset : frame.offset + 4] == bytes([0, 61, 0, 83])
    assert mcu_size(frame.sampling) == (16, 16)


def test_the_segments_lie_behind_each_other_up_to_the_first_scan(jpeg: bytes) -> None:
    found = list(segments_of(memoryview(jpeg)))
    assert found[-1][0] == 0xDA
    assert all(end + 2 == at for (_, _, end), (_, at, _) in pairwise(found))


def test_of_two_frames_the_first_one_counts(jpeg: bytes) -> None:
    start = first_frame(jpeg).offset - 5
    end = start + 19
    other = jpeg[start : start + 5] + bytes([0, 7, 0, 9]) + jpeg[start + 9 : end]
    assert first_frame(jpeg[:end] + other + jpeg[end:])[2:4] == (61, 83)


@pytest.mark.parametrize(
    "junk", [b"\0", b"\xff\0", b"\xff\0\0\4\0\0", b"\xff\xd8", b"\xff\xd9", b"\xff\xe1\0\1"]
)
def test_what_a_decoder_would_read_otherwise_is_refused(jpeg: bytes, junk: bytes) -> None:
    with pytest.raises(ValueError, match=r"^(there|the segment|a second image) "):
        first_frame(jpeg[:2] + junk + jpeg[2:])


@settings(deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_where_a_decoder_finds_a_header_too_it_is_the_same_one(
    jpeg: bytes, data: st.DataObject
) -> None:
    scan = max(end for _, _, end in segments_of(jpeg))
    changed = bytearray(jpeg)
    for at in data.draw(st.lists(st.integers(0, scan), min_size=1, max_size=4)):
        value = data.draw(st.sampled_from([0, 1, 2, 0xC0, 0xC3, 0xD0, 0xD8, 0xDA, 0xFF]))
        if data.draw(st.booleans()):
            changed.insert(at, value)
        else:
            changed[at] = value
    try:
        frame = first_frame(changed)
        height, width, *_ = simplejpeg.decode_jpeg_header(changed)
    except ValueError:
        return
    assert (frame.height, frame.width) == (height, width)

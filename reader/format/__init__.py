"""THE FORMAT: how a dataset lies on disk.

::

    shards/
      dataset.json                       committed last; without it there is no dataset
      [SPLIT/]shard-000000.tar           WebDataset tar
      [SPLIT/]shard-000000.safetensors   its index
      shards.index                       all indexes back to back, where there are many shards

**Tar** (`tar.py`). POSIX.1-1988 USTAR blocks, every member a regular file with mode 0644 and
mtime, uid and gid 0, so that the same input gives the same bytes. A PAX record appears only for a
name that USTAR cannot hold. A sample is a run of adjacent members ``KEY.EXT``: the image first,
then ``KEY.cls`` (decimal class number, if there are labels), then the other members. KEY is UTF-8;
it holds no dot after its last ``/``, no white space and no control character, and is unique in the
dataset. EXT is lower case.

**Index** (`index.py`). A safetensors file (8 bytes little-endian header length, a JSON header,
columns back to back). One row a sample, in the order of the tar:

=====================  ========  =================================================================
column                 type      meaning
=====================  ========  =================================================================
``offset``, ``size``   u64       where the image's bytes lie in the tar
``label``              i64       class number, -1 if there is none; below the number of class names,
                                 at most 1,000,000 in a dataset without class names
``height``, ``width``  u32       pixels as stored, before the EXIF orientation is applied; 1 to
                                 2,147,483,647
``format``             u8        position in `FORMATS`
``channels``           u8        components as stored: 1, 3 or 4 (2: grey with alpha)
``orientation``        u8        EXIF orientation, 1 to 8
``crc32``              u32       of the image's bytes
``key``                u8        all keys, UTF-8, back to back
``key_offset``         u64       N + 1 bounds into ``key``
``name``               u8        the original names, as bytes, relative to the source
``name_offset``        u64       N + 1 bounds into ``name``
``M.offset, M.size``   u64       of each further member with extension M; offset 0: not there
``M.crc32``            u32       of its bytes; may be left out
``segment``            u16/u32   lengths of a tiled JPEG's entropy-coded segments, all rows
``segment_offset``     u64       N + 1 bounds into ``segment``; an empty range: not tiled
``scan_offset``        u32       where the first segment begins within the image's bytes
``frame_offset``       u32       where the frame header's height (2 bytes) lies in the image
``restart_interval``   u16       MCUs a segment
``mcu_height``         u8        rows of pixels in an MCU
``mcu_width``          u8        columns of pixels in an MCU
``band``               u32       bytes of a banded PNG's bands, all rows
``band_offset``        u64       N + 1 bounds into ``band``; an empty range: not banded
``band_start``         u32       where the first band begins within the image's bytes
``band_rows``          u16       rows of pixels in a band; the last one may have fewer
``M.band...``          as these  the same four of each further member M of which any is banded
=====================  ========  =================================================================

The seven columns from ``segment`` on are there only if a row of the shard is tiled. Segments
follow each other with one RSTn marker (2 bytes, not counted) between two, and an EOI marker ends
the image. A segment has ``restart_interval`` MCUs, the last one maybe fewer; where that number
does not divide the MCUs of a row, segments run on from row to row.

The four columns from ``band`` on are there only if an image, or a member, of the shard is banded.
Such a PNG has 8 bits a value, no interlacing, and one IDAT chunk, in which the bands follow each
other behind zlib's header of 2 bytes; each ends with a full flush, so that it inflates by itself.
Behind the last one are an empty final block and zlib's checksum. The rows of a band have the same
filter, None, Sub or Up; but for the first row where that is Up: it has None. A reader ignores
columns that it does not know.

The index's metadata (all strings): ``format`` (``shardfeed-index``), ``version``, ``tar_bytes``,
``tar_checksum`` (``xxh3-128:`` and 32 hexadecimal digits), ``rejected`` (JSON: the source files
that were planned for this shard and left out, ``[name, reason]`` each), ``untiled`` (likewise, the
JPEGs that could not be tiled), ``unbanded`` (the PNGs that could not be banded; may be missing).

**dataset.json** (`manifest.py`). Version, the options that shaped the bytes, the classes in label
order, the list of shards with their sizes and checksums, ``transcoders`` (the versions of what the
images may have gone through), ``rejected`` (the number of source files that are not in the
dataset), ``rejections`` (those of them that no index names: ``reasons``, the number of files by
reason, and ``files``, the first thousand by name, ``[name, reason]`` each; may be missing),
``boxes`` (how members hold the boxes of their image, by extension, where the packer knows it:
``format``, which is ``xyxy``, ``xywh`` or ``cxcywh``; ``normalized``, true for fractions of the
image's width and height, false for pixels, null where that is not known; ``path`` and ``labels``,
the names of the lists of boxes and class numbers in JSON, ``labels`` null where there is none;
``keypoints``, the names of each object's key points, where they have names; the lines of a ``txt``
are YOLO's, a class number first; may be missing), ``joined`` (true where there is a shards.index;
may be missing), and ``checksum``: ``xxh3-128:`` and the hexadecimal digits for all of this without
it, as JSON with sorted keys and without white space. Each tar is named once; names that differ only
in case or Unicode normalisation, and have the same checksum, are one tar. A reader ignores what it
does not know.

**shards.index**. The files of the indexes back to back, in the order of the shards in dataset.json,
which has the bytes and the checksum of each. It is written before dataset.json, for 64 shards or
more whose indexes have at most 1 MiB on average and 4 GB in all. It repeats what the indexes hold,
so that a store is asked for 8 MiB of them at a time, as far as they are needed; a reader may ignore
it, and asks for an index of its own where this file holds other bytes.

Beside these, `safetensors.py` reads an index's columns, `columns.py` builds them, `tiles.py` those
from ``segment`` on and `bands.py` those from ``band`` on;
`members.py` says what a further member is by its extension, `pictures.py` which pictures there are
and how their values become 8 bits; `jpeg.py` walks a JPEG's header, `limits.py`
bounds what a sample may ask for, `files.py` opens files, `mistaken.py` says what lies where no
dataset is, `errors.py` has the root of all errors.
"""

from typing import TYPE_CHECKING

from reader.lazy import lazy

if TYPE_CHECKING:
    from reader.format.columns import FORMATS
    from reader.format.errors import FormatError, ShardfeedError
    from reader.format.index import Index
    from reader.format.limits import Limits
    from reader.format.manifest import BoxEncoding, Manifest, ShardEntry

__all__ = [
    "FORMATS",
    "BoxEncoding",
    "FormatError",
    "Index",
    "Limits",
    "Manifest",
    "ShardEntry",
    "ShardfeedError",
]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "reader.format.columns": ("FORMATS",),
        "reader.format.errors": ("FormatError", "ShardfeedError"),
        "reader.format.index": ("Index",),
        "reader.format.limits": ("Limits",),
        "reader.format.manifest": ("BoxEncoding", "Manifest", "ShardEntry"),
    },
)

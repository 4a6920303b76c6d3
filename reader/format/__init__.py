"""THE FORMAT of a dataset on disk.

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
dataset. EXT is lower case. A dataset without images has the members of another dataset's samples:
its shards are those of that dataset, sample for sample, and a sample may have no member.

**Index** (`index.py`, checked by `index_faults.py`). A safetensors file (8 bytes little-endian
header length, a JSON header, columns back to back). One row a sample, in the order of the tar:

======================  ========  =================================================================
column                  type      meaning
======================  ========  =================================================================
``offset``, ``size``    u64       span of the image's bytes in the tar
``label``               i64       class number, -1 if there is none; below the number of classes,
                                  at most 1,000,000 in a dataset without class names
``height``, ``width``   u32       pixels as stored, before the EXIF orientation is applied; 1 to
                                  2,147,483,647
``format``              u8        position in `FORMATS`
``channels``            u8        components as stored: 1, 3 or 4 (2: grey with alpha)
``orientation``         u8        EXIF orientation, 1 to 8
``crc32``               u32       of the image's bytes
``key``                 u8        all keys, UTF-8, back to back
``key_offset``          u64       N + 1 bounds into ``key``
``name``                u8        the original names, as bytes, relative to the source
``name_offset``         u64       N + 1 bounds into ``name``
``M.offset, M.size``    u64       of each further member with extension M; offset 0: absent
``M.crc32``             u32       of its bytes; optional
``source_height``       u32       height of the image's picture in its source, as that stored it;
``source_width``        u32       its width;
``source_orientation``  u8        its EXIF orientation; 0 in all three: packing changed none of them
``M.frame``             u8        picture that the coordinates in a member M are of, see below
``segment``             u16/u32   lengths of a tiled JPEG's entropy-coded segments, all rows
``segment_offset``      u64       N + 1 bounds into ``segment``; an empty range: not tiled
``scan_offset``         u32       offset of the first segment in the image's bytes
``frame_offset``        u32       offset of the frame header's height (2 bytes) in them
``restart_interval``    u16       MCUs in a segment
``mcu_height``          u8        rows of pixels in an MCU
``mcu_width``           u8        columns of pixels in an MCU
``band``                u32       bytes of a banded PNG's bands, all rows
``band_offset``         u64       N + 1 bounds into ``band``; an empty range: not banded
``band_start``          u32       offset of the first band in the image's bytes
``band_rows``           u16       rows of pixels in a band; the last one may have fewer
``M.band...``           as these  the same four of a further member M, if any of its PNGs is banded
``F.number``            i64, u64  the number at path F in the sample's JSON, such as ``size.0``;
                                  u64: the bits of float64, NaN if the sample has none
``F.text``              u8        texts at F, UTF-8 (numbers as in JSON), empty if there is none;
                                  in place of ``F.number`` if one of the shard is a text
``F.text_offset``       u64       N + 1 bounds into ``F.text``
======================  ========  =================================================================

The nine columns before ``key`` exist unless the dataset has no images.

The three columns from ``source_height`` on exist only if packing resized or turned an image of the
shard. Numbers in members are those of the source's picture. An image of the format ``raw`` with a
source was turned upright, scaled to cover its size, and cropped at the centre, as Pillow's
``ImageOps.fit`` does it; any other one was scaled, each axis by ``width / source_width`` and
``height / source_height``. Pictures among the members were resized and turned with their images.

The column ``M.frame`` exists only if a row has another value than 0. A value says of which picture
the coordinates in M are, by the size that their annotation gives of it. 0: it is not known, or all
are the same; 1: the picture as the source stored it; 2: that picture turned upright by its
orientation; 3: either of these, whose sizes are equal; 4: neither. Of a picture M, 3 means that it
may be upright. A reader takes 3 and 4 for 0.

The seven columns from ``segment`` on exist only if a row of the shard is tiled. One RSTn marker
(2 bytes, not counted) separates two segments, and an EOI marker ends the image. A segment has
``restart_interval`` MCUs, the last one may have fewer; if that number does not divide the MCUs of a
row, segments continue from row to row.

The four columns from ``band`` on exist only if an image, or a member, of the shard is banded. Such
a PNG has 8 bits a value, no interlacing, and one IDAT chunk. In it, the bands follow zlib's header
of 2 bytes; each ends with a full flush, so that it inflates independently. An empty final block and
zlib's checksum follow the last band. The rows of a band have the same filter, None, Sub or Up; if
it is Up, the first row has None.

The columns of a field F exist if the packer was asked for it (``columns`` in the options of
dataset.json) and a sample of the shard has it in its member ``json``. The names of F are joined by
dots. True and False are 1 and 0; integers beyond int64 are texts. A reader ignores unknown columns.

The index's metadata (all strings): ``format`` (``shardfeed-index``), ``version``, ``tar_bytes``,
``tar_checksum`` (``xxh3-128:`` and 32 hexadecimal digits), ``rejected`` (JSON: the source files
that were planned for this shard and rejected, ``[name, reason]`` each), ``untiled`` (likewise, the
JPEGs that could not be tiled), ``unbanded`` (the PNGs that could not be banded; optional),
``dropped`` (JSON: the number of images by what they have and no reader shows, such as further
pages; optional).

**dataset.json** (`manifest.py`). Version, the options that shaped the bytes, the classes in label
order, the list of shards with their sizes and checksums, ``transcoders`` (the versions of the
libraries that may have changed the images), ``rejected`` (the number of source files that are not
in the dataset), ``rejections`` (those of them that no index lists: ``reasons``, the number of files
by reason, ``files``, the first thousand by name, ``[name, reason]`` each, and ``packed``, what
indexes list and an append has packed since; each optional), ``boxes`` (the encoding of the images'
boxes in members, by extension, if the packer knows it: ``format``, which is ``xyxy``, ``xywh`` or
``cxcywh``; ``normalized``, true for fractions of the image's width and height, false for pixels,
null if it is unknown; ``path`` and ``labels``, the names of the lists of boxes and class numbers in
JSON, ``labels`` null if there is none; ``keypoints``, the names of each object's key points, if
they have names; the lines of a ``txt`` are YOLO's, a class number first; optional), ``mask_colors``
(of masks coded by colour, by extension: ``colors``, the red, green and blue of each class in the
order of their numbers, and ``names``, of the classes, empty if unknown; optional), ``joined`` (true
if there is a shards.index; optional), ``images`` (false if the dataset has no images; optional),
``dropped`` (the sum of the indexes' ``dropped``; optional), ``sizes`` (bounds of the images' sizes
by split, as ``[height, width]`` with the EXIF orientation applied: ``least``, the least height and
the least width, ``most``, and ``largest``, the size of the image with the most pixels, the highest
one of several; optional, also for each split), and ``checksum``: ``xxh3-128:`` and the hexadecimal
digits for all other content, as JSON with sorted keys and without white space. Each tar is listed
once; names that differ only in case or Unicode normalisation, and have the same checksum, are one
tar. A reader ignores unknown entries.

**shards.index** (`index_file.py`). The bytes of all index files back to back, in the order of the
shards in dataset.json, which has the size and the checksum of each. packer writes it before
dataset.json if a dataset has 64 shards or more, and its indexes have at most 1 MiB on average and 4
GB together. A reader maps it, or fetches from a store the indexes that it needs, by requests of up
to 8 MiB. It reads an index by itself if the bytes here do not match its checksum, or if its file is
newer, so it may also ignore this file.

`safetensors.py` reads an index's columns, `columns.py` builds them, `tiles.py` those from
``segment`` on, `bands.py` those from ``band`` on, `frames.py` those of sources and frames, and
`fields.py` those of the JSON. `members.py`
decodes a further member by its extension, and `pictures.py` opens pictures and converts their
values to 8 bits. `jpeg.py` reads a JPEG's header, `limits.py` limits a sample's size, `files.py`
opens files, `sizes.py` bounds the sizes of images, `mask_colors.py` parses lists of colours,
`mistaken.py` explains why a folder is not a dataset, and `errors.py` has the root of all errors.
"""

from typing import TYPE_CHECKING

from reader.lazy import lazy

if TYPE_CHECKING:
    from reader.format.columns import FORMATS
    from reader.format.errors import FormatError, ShardfeedError
    from reader.format.index import Index
    from reader.format.limits import Limits
    from reader.format.manifest import BoxEncoding, Manifest, ShardEntry
    from reader.format.mask_colors import MaskColors

__all__ = [
    "FORMATS",
    "BoxEncoding",
    "FormatError",
    "Index",
    "Limits",
    "Manifest",
    "MaskColors",
    "ShardEntry",
    "ShardfeedError",
]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "reader.format.columns": "FORMATS",
        "reader.format.errors": "FormatError ShardfeedError",
        "reader.format.index": "Index",
        "reader.format.limits": "Limits",
        "reader.format.manifest": "BoxEncoding Manifest ShardEntry",
        "reader.format.mask_colors": "MaskColors",
    },
)

"""The pages of LMDB's B+trees, as https://github.com/LMDB/lmdb has them: ``mdb.c``, data version 1.

A value lies in one piece: in a leaf, or behind the header of the first of some pages of its own.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from packer.errors import BadImage, Damaged
from packer.sources.containers.entries import Window

SUBDATA, DUPLICATES = 2, 4  # of a node: another tree; several values
_BIG = 1  # of a node: its data are the number of a page
_BRANCH, _LEAF = 1, 2  # of a page
_MAGIC, _VERSION = 0xBEEFC0DE, 1
_HEADER = struct.Struct("<QHHHH")  # number, padding, flags, lower, upper
_META = struct.Struct("<IIQQ")  # magic, version, address, size of the map
_DATABASE = struct.Struct("<IHHQQQQQ")  # page size, flags, depth, pages (3), entries, root
_NODE = struct.Struct("<HHHH")  # low and high half of the size, flags, size of the key
_DEEPEST = 64
_NONE = (1 << 64) - 1  # the root of an empty tree
_PAGES = (512, 1 << 16)  # bytes of a page, at least and at most


class Node(NamedTuple):
    """A key in a page, and where its value lies."""

    key: bytes
    begin: int
    size: int
    flags: int

    @property
    def below(self) -> int:
        """The page below, of one in a branch."""
        return self.size | self.flags << 32


@dataclass(frozen=True)
class Pages:
    """The B+trees in a file."""

    window: Window
    size: int  # bytes of a page
    main: int  # the root of the tree without a name

    @classmethod
    def of(cls, window: Window) -> "Pages":
        """Return those of the last transaction, by the newer one of the first two pages."""
        found = []
        at, size = 0, 0
        for _ in range(2):
            begin = at + _HEADER.size
            magic, version, *_ = _META.unpack(window.read(begin, _META.size))
            if magic != _MAGIC:
                raise Damaged("it is not a database of LMDB")
            if version != _VERSION:
                raise BadImage(f"its data have version {version} of LMDB; version 1 is read")
            free = begin + _META.size
            size = _DATABASE.unpack(window.read(free, _DATABASE.size))[0]
            main = _DATABASE.unpack(window.read(free + _DATABASE.size, _DATABASE.size))
            transaction = window.read(free + 2 * _DATABASE.size + 8, 8)
            found.append((int.from_bytes(transaction, "little"), main[-1]))
            at = size
        return cls(window, size, max(found)[1])

    def databases(self) -> Iterator[tuple[str, int]]:
        """Yield the name and the root of each tree, "" for the one without a name."""
        first = next(self.nodes(self.main), None)
        if not isinstance(first, Node) or not first.flags & SUBDATA:
            yield "", self.main
            return
        for node in self.nodes(self.main):
            if isinstance(node, Node) and node.flags & SUBDATA:
                root = _DATABASE.unpack(self.window.read(node.begin, _DATABASE.size))[-1]
                yield node.key.decode("utf-8", "replace"), root

    def nodes(self, root: int, depth: int = 0) -> Iterator[Node | BadImage]:
        """Yield all keys below a page in their order, and why those of a page are lost."""
        if root == _NONE:
            return
        try:
            flags, nodes = self._page(root)
            if depth > _DEEPEST:
                raise Damaged(f"page {root} lies below itself")
        except BadImage as error:
            yield error
            return
        for node in nodes:
            if flags & _BRANCH:
                yield from self.nodes(node.below, depth + 1)
            else:
                yield self._node(node)

    def get(self, root: int, key: bytes) -> Node | None:
        """Return the value of a key."""
        for _ in range(_DEEPEST):
            if root == _NONE:
                return None
            flags, nodes = self._page(root)
            if flags & _LEAF:
                at = next((one for one in nodes if one.key == key), None)
                return at and self._node(at)
            root = [one for at, one in enumerate(nodes) if not at or one.key <= key][-1].below
        raise Damaged("its tree has no end")

    def last(self, root: int) -> bytes:
        """Return the last key."""
        for _ in range(_DEEPEST):
            flags, nodes = self._page(root)
            if flags & _LEAF or not nodes:
                return nodes[-1].key if nodes else b""
            root = nodes[-1].below
        raise Damaged("its tree has no end")

    def _node(self, node: Node) -> Node:
        """Return a node of a leaf with the place of its value."""
        if not node.flags & _BIG:
            return node
        page = int.from_bytes(self.window.read(node.begin, 8), "little")
        return node._replace(begin=page * self.size + _HEADER.size)

    def _page(self, number: int) -> tuple[int, list[Node]]:
        """Return the flags of a page, and its nodes."""
        at = number * self.size
        data = self.window.read(at, self.size)
        found, _, flags, lower, _ = _HEADER.unpack_from(data)
        if found != number or flags & (_BRANCH | _LEAF) not in (_BRANCH, _LEAF):
            raise Damaged(f"page {number} is damaged, and the keys in it are lost")
        nodes = []
        for place in range(_HEADER.size, min(lower, self.size), 2):
            offset = int.from_bytes(data[place : place + 2], "little")
            try:
                low, high, more, length = _NODE.unpack_from(data, offset)
            except struct.error:
                raise Damaged(f"page {number} is damaged, and the keys in it are lost") from None
            begin = offset + _NODE.size
            key = data[begin : begin + length]
            nodes.append(Node(key, at + begin + length, low | high << 16, more))
        return flags, nodes

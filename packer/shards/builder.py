"""Encodes samples ahead and writes them into shards: those of planned jobs and those of loops.

Guarantees: samples are written in the order in which they were added, and a shard's bytes do not
depend on the threads; at most a few samples a thread wait to be written.
"""

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path

from packer.errors import AGAIN, BadImage, PackingFailed, cannot_write
from packer.images.encode import Encoded, Policy, encode, no_image
from packer.images.jpegtran import JpegtranFailed
from packer.images.members import EncodedMember, encode_member
from packer.plan.names import next_numbers, shard_name
from packer.plan.plan import default_shard_size, shard_bytes
from packer.samples.records import Content, Sample
from packer.shards.shard_writer import ShardWriter, Written
from packer.words import option
from reader.format import Manifest, tar
from reader.format.frames import Packed

Rejections = list[tuple[str, str]]
Members = Mapping[str, EncodedMember]
ShardOf = Callable[[Sample, Encoded, Members], ShardWriter]
_Result = tuple[Sample, Encoded, Members]

_AHEAD = 2  # samples a thread that are encoded before their turn


class ShardBuilder(AbstractContextManager["ShardBuilder"]):
    """A context manager; leaving it cancels what has not been written."""

    def __init__(
        self,
        policy: Policy,
        threads: int,
        shard_of: ShardOf,
        reject: Callable[[Sample, BadImage], None],
        otherwise: str = AGAIN,
    ) -> None:
        """Begin with no sample; without `threads` each is encoded and written when it is added.

        `shard_of` returns the shard of an encoded sample; `reject` gets each bad one and may raise.
        """
        self._policy, self._shard_of, self._reject = policy, shard_of, reject
        self._otherwise = otherwise
        self._pool = ThreadPoolExecutor(threads) if threads else None
        self._most = _AHEAD * threads
        self._ahead: deque[tuple[Sample, Callable[[], _Result]]] = deque()

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def add(self, sample: Sample, read: Callable[[], Content]) -> None:
        """Take a sample; those before it may be written, or rejected, now."""
        encode = partial(self._encode, sample, read)
        result = encode if self._pool is None else self._pool.submit(encode).result
        self._ahead.append((sample, result))
        if len(self._ahead) > self._most:
            self._write_first()

    def drain(self) -> None:
        while self._ahead:
            self._write_first()

    def _write_first(self) -> None:
        sample, encoded = self._ahead.popleft()
        try:
            result = encoded()
        except BadImage as error:
            self._reject(sample, error)
            return
        except JpegtranFailed as error:
            raise PackingFailed(f"{sample.name}: {error}. {self._otherwise}") from error
        self._shard_of(*result).add(*result)

    def _encode(self, sample: Sample, read: Callable[[], Content]) -> _Result:
        content = read()
        policy, found = self._policy, content.members
        if isinstance(content.image, Packed):
            encoded = no_image(content.image)
        else:
            encoded = encode(content.image, policy, found)
        if (size := sum(map(len, found.values()))) > (most := policy.limits.bytes):
            raise BadImage(
                f"its members have {size} bytes; {most} are the most (", option("max_bytes"), ")"
            )
        if encoded.info.format in found:
            raise BadImage(f"another member of its sample is a .{encoded.info.format}, too")
        known = content.sample or sample
        pictures = {"json": sample.picture}  # of the member that a scan makes of annotations
        members = {
            ext: encode_member(ext, data, encoded.packed, policy, pictures.get(ext))
            for ext, data in found.items()
        }
        return known, encoded, members


class ShardStream:
    """The shards of a dataset that grows; `close` removes those that are not finished."""

    def __init__(
        self,
        folder: Path,
        policy: Policy,
        threads: int,
        base: Manifest | None,  # the dataset that is added to
        begin_split: Callable[[str], None],
        reject: Callable[[str, BadImage], None],
        *,
        shard_size: int | None,  # None: shards grow with the dataset
        shard_samples: int | None,
    ) -> None:
        """Write nothing before the first sample comes; `reject` gets a bad one, and may raise."""
        self._folder = self._path = folder
        self._shard_size, self._shard_samples = shard_size, shard_samples
        self._next = next_numbers(base)
        self._bytes = shard_bytes(base)
        self._begin_split, self._reject = begin_split, reject
        how = (
            policy,
            threads,
            self._shard_of,
            lambda one, error: self._refuse(one.name, error),
        )
        self._builder = ShardBuilder(*how, "Nothing was committed.")
        self._open: dict[str, ShardWriter] = {}
        self._begun: set[str] = set()
        self.rejected: Rejections = []  # since the last shard was finished
        self.written = Written()

    def close(self) -> None:
        self._builder.__exit__()
        for shard in self._open.values():
            shard.close()

    def add(self, sample: Sample, content: Content) -> None:
        with self._writing():
            self._builder.add(sample, lambda: content)

    def drain(self) -> None:
        with self._writing():
            self._builder.drain()

    def finish(self) -> None:
        self.drain()
        with self._writing():
            for split in list(self._open):
                self._finish_shard(split)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise cannot_write(self._path, error, kept=False) from error

    def refuse(self, name: str, error: BadImage) -> None:
        """Take a sample that cannot be encoded; what is wrong before it comes first."""
        self.drain()
        self._refuse(name, error)

    def _refuse(self, name: str, error: BadImage) -> None:
        self._reject(name, error)
        self.rejected.append((name, error.message))

    def _shard_of(self, sample: Sample, encoded: Encoded, members: Members) -> ShardWriter:
        shard = self._open.get(sample.split)
        if shard is not None:
            size = self._shard_size or default_shard_size(self._bytes)[0]
            is_full = shard.size + _span(sample, encoded, members) > size
            if is_full or len(shard) == self._shard_samples:
                self._finish_shard(sample.split)
        shard = self._open.get(sample.split) or self._begin_shard(sample.split)
        self._path = shard.path
        return shard

    def _begin_shard(self, split: str) -> ShardWriter:
        if split not in self._begun:
            self._begin_split(split)
            self._begun.add(split)
        number = self._next.get(split, 0)
        self._path = path = self._folder / shard_name(split, number)
        self._open[split] = ShardWriter(path)
        self._next[split] = number + 1
        return self._open[split]

    def _finish_shard(self, split: str) -> None:
        shard = self._open.pop(split)
        self._bytes += shard.size
        self._path = shard.path
        with shard:
            shard.finish(self.rejected)
        self.rejected = []
        self.written.add(Written.of(shard.path, split))


def _span(sample: Sample, encoded: Encoded, members: Members) -> int:
    sizes = {encoded.info.format: len(encoded.data)}
    sizes |= {} if sample.label < 0 else {"cls": len(str(sample.label))}
    sizes |= {ext: len(member.data) for ext, member in members.items()}
    return sum(
        len(tar.header(f"{sample.key}.{ext}", size)) + tar.padded(size)
        for ext, size in sizes.items()
    )

"""Writes samples that come one after the other, into shards that end when they are full."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from packer.errors import BadImage, cannot_write
from packer.images.encode import Encoded, Policy
from packer.plan.plan import default_shard_size
from packer.shards.builder import Members, ShardBuilder
from packer.shards.jobs import Rejections
from packer.shards.shard_writer import ShardWriter
from packer.shards.written import Written
from packer.sources.records import Content, SourceSample
from reader.format import tar


class ShardStream:
    """The shards of a dataset that grows; `close` removes those that are not finished."""

    def __init__(
        self,
        folder: Path,
        policy: Policy,
        *,
        shard_size: int | None,
        shard_samples: int | None,
        threads: int,
        first: Mapping[str, int],
        there: int,
        begin_split: Callable[[str], None],
        reject: Callable[[str, BadImage], None],
    ) -> None:
        """Write nothing before the first sample comes.

        Args:
            folder: of the dataset.
            policy: what is done with images.
            shard_size: bytes a shard's tar should not exceed (a single sample may); None: what
                `default_shard_size` says of all that is written before the shard.
            shard_samples: samples a shard may hold.
            threads: that encode.
            first: the number of the first shard of each split, 0 if it is not named.
            there: bytes of shards that this is added to.
            begin_split: is called before the first shard of a split is written.
            reject: is called with each sample that is not sound; it may raise.
        """
        self._folder = self._path = folder
        self._shard_size, self._shard_samples = shard_size, shard_samples
        self._next = dict(first)
        self._bytes = there
        self._begin_split, self._reject = begin_split, reject
        self._builder = ShardBuilder(
            policy, threads, self._shard_of, self._refuse, "Nothing was committed."
        )
        self._open: dict[str, _Shard] = {}
        self._begun: set[str] = set()
        self.rejected: Rejections = []  # since the last shard was finished
        self.written = Written()

    def close(self) -> None:
        """Remove what is not finished."""
        self._builder.close()
        for shard in self._open.values():
            shard.writer.close()

    def add(self, sample: SourceSample, content: Content) -> None:
        """Take a sample; those before it may be written, or rejected, now."""
        with self._writing():
            self._builder.add(sample, lambda: content)

    def drain(self) -> None:
        """Write what waits; raises what `add` does."""
        with self._writing():
            self._builder.drain()

    def finish(self) -> None:
        """Write what waits, and finish the last shards; raises what `add` does."""
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

    def _refuse(self, sample: SourceSample, error: BadImage) -> None:
        self._reject(sample.name, error)
        self.rejected.append((sample.name, str(error)))

    def _shard_of(self, sample: SourceSample, encoded: Encoded, members: Members) -> ShardWriter:
        shard = self._open.get(sample.split)
        if shard is not None and self._is_full(shard, _span(sample, encoded, members)):
            self._finish_shard(sample.split)
            shard = None
        shard = shard or self._begin_shard(sample.split)
        shard.samples += 1
        self._path = shard.path
        return shard.writer

    def _is_full(self, shard: "_Shard", more: int) -> bool:
        if shard.samples == self._shard_samples:
            return True
        size = self._shard_size or default_shard_size(self._bytes)[0]
        return shard.writer.size + more > size

    def _begin_shard(self, split: str) -> "_Shard":
        if split not in self._begun:
            self._begin_split(split)
            self._begun.add(split)
        number = self._next.get(split, 0)
        self._path = path = self._folder / split / f"shard-{number:06d}.tar"
        self._open[split] = _Shard(path, ShardWriter(path))
        self._next[split] = number + 1
        return self._open[split]

    def _finish_shard(self, split: str) -> None:
        shard = self._open.pop(split)
        self._bytes += shard.writer.size
        self._path = shard.path
        with shard.writer as writer:
            writer.finish(self.rejected)
        self.rejected = []
        self.written.add(Written.of(shard.path, split))


@dataclass
class _Shard:
    """A shard that is being written."""

    path: Path
    writer: ShardWriter
    samples: int = 0


def _span(sample: SourceSample, encoded: Encoded, members: Members) -> int:
    """Bytes that a sample takes in a tar."""
    sizes = {encoded.info.format: len(encoded.data)}
    sizes |= {} if sample.label < 0 else {"cls": len(str(sample.label))}
    sizes |= {ext: len(member.data) for ext, member in members.items()}
    return sum(
        len(tar.header(f"{sample.key}.{ext}", size)) + tar.padded(size)
        for ext, size in sizes.items()
    )

"""Encodes samples ahead and writes them into shards: those of planned jobs and those of loops.

Guarantees: samples are written in the order in which they were added, and a shard's bytes do not
depend on the threads; at most a few samples a thread wait to be written.
"""

from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial

from packer.errors import AGAIN, BadImage, PackingFailed
from packer.images.encode import Encoded, Policy, encode
from packer.images.jpegtran import JpegtranFailed
from packer.images.members import EncodedMember, encode_member
from packer.shards.shard_writer import ShardWriter
from packer.sources.records import Content, SourceSample

Members = Mapping[str, EncodedMember]
ShardOf = Callable[[SourceSample, Encoded, Members], ShardWriter]
_Result = tuple[SourceSample, Encoded, Members]

_AHEAD = 2  # samples a thread that are encoded before their turn


class ShardBuilder:
    """A context manager; leaving it cancels what has not been written."""

    def __init__(
        self,
        policy: Policy,
        threads: int,
        shard_of: ShardOf,
        reject: Callable[[SourceSample, BadImage], None],
        otherwise: str = AGAIN,
    ) -> None:
        """Begin with no sample.

        Args:
            policy: what is done with images.
            threads: that encode; 0: each sample is encoded and written as it is added.
            shard_of: returns the shard that an encoded sample is written to.
            reject: is called with each sample that is not sound; it may raise.
            otherwise: ends the error for a sample that cannot be encoded here.
        """
        self._policy, self._shard_of, self._reject = policy, shard_of, reject
        self._otherwise = otherwise
        self._pool = ThreadPoolExecutor(threads) if threads else None
        self._most = _AHEAD * threads
        self._ahead: deque[tuple[SourceSample, Future[_Result]]] = deque()

    def __enter__(self) -> "ShardBuilder":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Cancel what has not been written."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def add(self, sample: SourceSample, read: Callable[[], Content]) -> None:
        """Take a sample; those before it may be written, or rejected, now."""
        if self._pool is None:
            self._write(sample, partial(self._encode, sample, read))
            return
        self._ahead.append((sample, self._pool.submit(self._encode, sample, read)))
        if len(self._ahead) > self._most:
            self._write_first()

    def drain(self) -> None:
        """Write what waits; raises what `add` does."""
        while self._ahead:
            self._write_first()

    def _write_first(self) -> None:
        sample, future = self._ahead.popleft()
        self._write(sample, future.result)

    def _write(self, sample: SourceSample, encoded: Callable[[], _Result]) -> None:
        try:
            result = encoded()
        except BadImage as error:
            self._reject(sample, error)
            return
        except JpegtranFailed as error:
            raise PackingFailed(f"{sample.name}: {error}. {self._otherwise}") from error
        self._shard_of(*result).add(*result)

    def _encode(self, sample: SourceSample, read: Callable[[], Content]) -> _Result:
        content = read()
        return content.sample or sample, *encode_content(content, self._policy)


def encode_content(content: Content, policy: Policy) -> tuple[Encoded, Members]:
    """Encode a sample's image and its members; raise `BadImage` where one is not sound."""
    encoded = encode(content.image, policy)
    if (size := sum(map(len, content.members.values()))) > (most := policy.limits.bytes):
        raise BadImage(f"its members have {size} bytes; {most} are the most (--max-bytes)")
    if encoded.info.format in content.members:
        raise BadImage(f"another member of its sample is a .{encoded.info.format}, too")
    members = {
        ext: encode_member(ext, data, encoded.info, policy) for ext, data in content.members.items()
    }
    return encoded, members

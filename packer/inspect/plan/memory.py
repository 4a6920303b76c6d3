"""What reading holds in memory: of a rank, of a node, of a GPU (pure)."""

from dataclasses import dataclass

from packer.inspect.plan.setting import Setting
from packer.inspect.plan.stored import Stored
from reader.batch.depth import chunk_size, depth_of, slots_of
from reader.batch.layout import BatchLayout

_CHANNELS = 3
_ON_THE_GPU = 3  # batches: the one that is computed with, and those that a CUDAPrefetcher has ahead


@dataclass(frozen=True)
class Memory:
    """Bytes.

    Attributes:
        batch: a batch of images, uint8, with labels, of one rank.
        depth: batches that a rank decodes ahead.
        ring: the memory for these, shared by a rank's workers.
        indexes: mapped by all processes of a node, once.
        decoded: what ``cache="decoded"`` takes of a node at most: all images whole.
        decoded_fixed: the same where the transforms always show the same, of `size`.
        gpu: batches of float16 and of float32 on the GPU, with what making them takes.
        vram: of the GPU.
    """

    batch: int
    depth: int
    ring: int
    indexes: int
    decoded: int
    decoded_fixed: int
    gpu: dict[str, int]
    vram: int

    @property
    def vram_share(self) -> dict[str, float]:
        """Of the GPU's memory, what batches take: 0 to 1."""
        return {name: taken / self.vram for name, taken in self.gpu.items()}


def memory(stored: Stored, setting: Setting) -> Memory:
    """What a Loader of images and labels, and its CUDAPrefetcher, hold."""
    layout = BatchLayout(setting.batch_size, setting.size)
    chunk = chunk_size(setting.batch_size, setting.workers, is_gathered=False)
    depth = depth_of(layout, setting.workers * chunk)
    height, width = setting.size
    image = height * width * _CHANNELS
    raw = setting.batch_size * image
    # While a batch is made there are its bytes, and its values in float32.
    gpu = {
        "float16": raw + 4 * raw + _ON_THE_GPU * 2 * raw,
        "float32": raw + _ON_THE_GPU * 4 * raw,
    }
    return Memory(
        layout.slot_bytes,
        depth,
        slots_of(depth) * layout.slot_bytes,
        stored.index_bytes,
        stored.pixels * _CHANNELS,
        len(stored) * image,
        gpu,
        setting.vram,
    )

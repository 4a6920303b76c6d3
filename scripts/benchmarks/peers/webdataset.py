"""The webdataset library over the same shards."""

from collections.abc import Iterable
from typing import Any

from benchmarks.peers import pipeline
from benchmarks.peers.peer import Task


def build(task: Task) -> Iterable[Any]:
    """A WebLoader with simplejpeg and OpenCV."""
    import webdataset as wds
    from torch.utils.data import default_collate

    urls = sorted(map(str, task.shards.rglob("*.tar")))
    if task.stored is not None:  # no cache: its own has no limit that it keeps to
        place = f"{task.stored.endpoint}/{task.stored.bucket}/shards"
        tars = sorted(path.relative_to(task.shards) for path in task.shards.rglob("*.tar"))
        urls = [f"pipe:curl --silent --fail {place}/{tar}" for tar in tars]

    def decode(sample: dict[str, Any]) -> tuple[Any, int]:
        import torch

        data = next(sample[ext] for ext in ("jpg", "png", "webp") if ext in sample)
        image = pipeline.with_cv2(data, task.crop)
        return torch.from_numpy(image).permute(2, 0, 1), int(sample["cls"])

    data = (
        wds.WebDataset(
            urls, shardshuffle=len(urls), nodesplitter=wds.split_by_node, empty_check=False
        )
        .shuffle(1000)
        .map(decode)
        .batched(task.batch_size, collation_fn=default_collate)
    )
    return wds.WebLoader(
        data,
        batch_size=None,
        num_workers=task.workers,
        persistent_workers=True,
        worker_init_fn=pipeline.single_thread,
    )

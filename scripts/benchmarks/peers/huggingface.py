"""Hugging Face datasets: an Arrow file that holds the JPEGs, read through torch's DataLoader."""

from collections.abc import Iterable, Iterator
from typing import Any

from benchmarks.peers import pipeline
from benchmarks.peers.data_loader import loader_of
from benchmarks.peers.peer import Task

_FOLDER = "huggingface"


def prepare(task: Task) -> None:
    """Write the images' bytes to Arrow, as `save_to_disk` does."""
    from datasets import Dataset, Features, Value

    def samples() -> Iterator[dict[str, Any]]:
        for path, label in pipeline.labelled(task.images):
            yield {"jpg": pipeline.read(path), "label": label}

    features = Features({"jpg": Value("binary"), "label": Value("int64")})
    folder = task.cache / _FOLDER
    data = Dataset.from_generator(samples, features=features, cache_dir=str(folder / "generated"))
    data.save_to_disk(str(folder / "arrow"))


def build(task: Task) -> Iterable[Any]:
    """A map-style dataset whose transform decodes with simplejpeg and OpenCV."""
    import torch
    from datasets import load_from_disk

    def decode(rows: dict[str, list[Any]]) -> dict[str, list[Any]]:
        images = (pipeline.with_cv2(data, task.crop) for data in rows["jpg"])
        return {
            "image": [torch.from_numpy(image).permute(2, 0, 1) for image in images],
            "label": rows["label"],
        }

    def collate(rows: list[dict[str, Any]]) -> tuple[Any, Any]:
        images = torch.stack([row["image"] for row in rows])
        return images, torch.tensor([row["label"] for row in rows])

    data = load_from_disk(str(task.cache / _FOLDER / "arrow")).with_transform(decode)
    return loader_of(data, task, collate_fn=collate)

"""The loader in other people's training loops, as it is: Lightning, Accelerate, torchvision.

That they resume in mid-epoch, `test_scripts.py` tests.

Lightning, Accelerate and torchdata are among the packages of all tests; `scripts/test_peers.sh`
installs torchvision and others.
"""

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from reader import CenterCrop, CUDAPrefetcher, Loader, RandomHorizontalFlip, ReaderError

pytestmark = pytest.mark.filterwarnings("ignore")  # the peers' own

COUNT = 39
BATCH = 8
STEPS = 5


def make_loader(folder: Path, **options: Any) -> Loader:
    return Loader(
        folder,
        batch_size=BATCH,
        transforms=[CenterCrop(16), RandomHorizontalFlip()],
        fields=("image", "label", "index"),
        **{"workers": 1, "shuffle": True, **options},
    )


@pytest.fixture
def expected(packed: Path) -> list[list[list[int]]]:
    """The sample numbers of each batch of two epochs."""
    with make_loader(packed) as loader:
        return [[index.tolist() for *_, index in loader] for _ in range(2)]


@pytest.fixture
def lightning() -> Any:
    return pytest.importorskip("lightning")


@pytest.fixture
def model(lightning: Any) -> Any:
    """`model()`: a LightningModule that remembers the samples of each of its steps."""

    class Model(lightning.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(3, 3)
            self.steps: list[list[int]] = []
            self.validated: list[int] = []

        def training_step(self, batch: Any, number: int) -> torch.Tensor:
            image, label, index = batch
            self.steps.append(index.tolist())
            found = self.layer(image.float().mean(dim=(2, 3)) / 255)
            return torch.nn.functional.cross_entropy(found, label)

        def validation_step(self, batch: Any, number: int) -> None:
            self.validated += batch[2].tolist()

        def configure_optimizers(self) -> torch.optim.Optimizer:
            return torch.optim.SGD(self.parameters(), 0.1)

    return Model


@pytest.fixture
def trainer(lightning: Any, tmp_path: Path) -> Any:
    """`trainer(max_epochs=1)`: on the CPU, without a word."""

    def make(**options: Any) -> Any:
        quiet = {"enable_progress_bar": False, "enable_model_summary": False, "logger": False}
        plain = {"accelerator": "cpu", "devices": 1, "default_root_dir": tmp_path}
        return lightning.Trainer(**{"enable_checkpointing": False, **quiet, **plain, **options})

    return make


def test_lightning_fits_begins_each_epoch_with_the_next_order_and_validates(
    packed: Path, model: Any, trainer: Any, expected: list[list[list[int]]]
) -> None:
    module = model()
    with make_loader(packed) as training, make_loader(packed) as validation:
        trainer(max_epochs=2, num_sanity_val_steps=0).fit(module, training, validation)
    assert module.steps == [*expected[0], *expected[1]]
    assert sorted(module.validated) == sorted(2 * [*range(COUNT)])


@pytest.mark.parametrize("stops", [[3], [1, 4, 7]])
@pytest.mark.parametrize("is_prefetched", [False, True])
def test_lightning_goes_on_in_mid_epoch_from_its_checkpoint(
    packed: Path,
    lightning: Any,
    model: Any,
    trainer: Any,
    expected: list[list[list[int]]],
    tmp_path: Path,
    stops: list[int],
    is_prefetched: bool,
) -> None:
    saved, seen = None, []
    for stop in (*stops, 2 * STEPS):
        module, folder = model(), tmp_path / str(stop)
        callback = lightning.pytorch.callbacks.ModelCheckpoint(
            folder, "saved", every_n_train_steps=stop
        )
        with make_loader(packed, workers=0) as loader:
            held = CUDAPrefetcher(loader, device="cpu") if is_prefetched else loader
            options = {"enable_checkpointing": True, "callbacks": [callback]}
            trainer(max_epochs=2, max_steps=stop, **options).fit(module, held, ckpt_path=saved)
            seen += module.steps
            assert len(seen) == stop
            epoch, position = divmod(stop, STEPS)
            state = held.state_dict()
            assert (state["epoch"], state["position"]) == (epoch, BATCH * position)
        saved = folder / "saved.ckpt"
    assert seen == [*expected[0], *expected[1]]


def test_lightning_overfits_a_loader_that_does_not_shuffle_and_refuses_one_that_does(
    packed: Path, model: Any, trainer: Any
) -> None:
    module = model()
    with make_loader(packed, shuffle=False) as loader:
        trainer(max_epochs=2, overfit_batches=2).fit(module, loader)
    assert module.steps == 2 * [[*range(BATCH)], [*range(BATCH, 2 * BATCH)]]
    with (
        make_loader(packed) as loader,
        pytest.warns(UserWarning, match="overfit but enabled train dataloader shuffling"),
        pytest.raises(ValueError, match=r"Loader.* needs to subclass"),
    ):
        trainer(max_epochs=2, overfit_batches=2).fit(model(), loader)


SPAWNED = """
    import json, sys
    import lightning, torch
    import reader

    class Model(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(3, 3)
            self.seen = []

        def training_step(self, batch, number):
            image, label, index = batch
            self.seen[-1].extend(index.tolist())
            return self.layer(image.float().mean(dim=(2, 3))).sum()

        def on_train_epoch_start(self):
            self.seen.append([])

        def on_train_end(self):
            with open(f"{sys.argv[2]}/{self.global_rank}", "w") as file:
                json.dump(self.seen, file)

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), 1e-6)

    if __name__ == "__main__":
        loader = reader.Loader(
            sys.argv[1], batch_size=8, shuffle=True, workers=1, transforms=[reader.CenterCrop(16)],
            fields=("image", "label", "index"),
        )
        lightning.Trainer(
            max_epochs=2, accelerator="cpu", devices=2, strategy=sys.argv[3], logger=False,
            enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
            default_root_dir=sys.argv[2],
        ).fit(Model(), loader)
"""


@pytest.mark.slow  # each process imports Lightning
@pytest.mark.parametrize("strategy", ["ddp", "ddp_spawn"])
def test_lightning_divides_a_loader_that_was_made_before_its_processes(
    packed: Path, lightning: Any, tmp_path: Path, run_script: Any, strategy: str
) -> None:
    done = run_script(SPAWNED, packed, tmp_path, strategy)
    assert done.returncode == 0, done.stderr
    ranks = [json.loads((tmp_path / str(rank)).read_text()) for rank in range(2)]
    for epoch in range(2):
        seen = [number for rank in ranks for number in rank[epoch]]
        assert set(seen) == set(range(COUNT))
        assert len(seen) == COUNT + 1  # one row pads the last step


def test_accelerate_leaves_the_loader_as_it_is(
    packed: Path, expected: list[list[list[int]]]
) -> None:
    accelerate = pytest.importorskip("accelerate")
    accelerator = accelerate.Accelerator(cpu=True)
    module = torch.nn.Linear(3, 3)
    optimizer = torch.optim.SGD(module.parameters(), 0.1)
    seen: list[list[list[int]]] = []
    with make_loader(packed) as loader:
        module, optimizer, prepared = accelerator.prepare(module, optimizer, loader)
        assert len(prepared) == STEPS
        for _ in range(2):
            seen.append([])
            for image, label, index in prepared:
                with accelerator.accumulate(module):
                    found = module(image.to(accelerator.device).float().mean(dim=(2, 3)))
                    accelerator.backward(torch.nn.functional.cross_entropy(found, label))
                    optimizer.step()
                    optimizer.zero_grad()
                seen[-1].append(index.tolist())
    assert seen == expected


def test_accelerates_skip_first_batches_says_what_to_do(packed: Path) -> None:
    accelerate = pytest.importorskip("accelerate")
    with make_loader(packed, workers=0) as loader:
        skipped = accelerate.skip_first_batches(loader, 2)
        assert len(skipped) == STEPS - 2
        with pytest.raises(ReaderError, match=r"loader.load_state_dict\(state\)"):
            next(iter(skipped))


def test_torchvision_mixes_the_prefetchers_batches(packed: Path) -> None:
    v2 = pytest.importorskip("torchvision.transforms.v2")
    mix = v2.MixUp(num_classes=3)
    with Loader(
        packed,
        batch_size=BATCH,
        workers=1,
        transforms=[CenterCrop(16)],
        drop_last=True,
        map_batch=lambda batch: mix(*batch),
    ) as loader:
        for image, label in CUDAPrefetcher(loader, device="cpu"):
            assert image.shape == (BATCH, 3, 16, 16)
            assert label.shape == (BATCH, 3)
            assert torch.allclose(label.sum(dim=1), torch.ones(BATCH))


def test_torchvision_changes_samples_in_the_workers(packed: Path) -> None:
    v2 = pytest.importorskip("torchvision.transforms.v2")
    change = v2.Compose([v2.ToImage(), v2.RandomHorizontalFlip(1.0), v2.ToDtype(torch.float32)])

    def map_sample(sample: dict[str, Any]) -> dict[str, Any]:
        return sample | {"image": change(sample["image"])}

    def only(**options: Any) -> torch.Tensor:
        with Loader(
            packed, batch_size=COUNT, workers=1, transforms=[CenterCrop(16)], **options
        ) as loader:
            ((image, _),) = loader
            return image

    assert torch.equal(only(map_sample=map_sample), only().flip(3).float())

"""A training script as torchrun starts it on each rank: DATA OUT EPOCHS DIE_AT_STEP.

Each rank writes the valid samples of every step; rank 0 saves the loader's state after each. In
step DIE_AT_STEP rank 1 stops forever, and the others wait for it.
"""

import json
import sys
import time
from pathlib import Path

import torch.distributed as dist

import reader


def main() -> None:
    data, out, epochs, die_at = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    dist.init_process_group("gloo")
    rank, ranks, saved = dist.get_rank(), dist.get_world_size(), out / "state.json"
    step = 0
    with (
        reader.Loader(
            data,
            batch_size=7,
            shuffle=True,
            seed=11,
            workers=1,
            fields=("index", "valid"),
            transforms=[reader.CenterCrop(8)],
        ) as loader,
        (out / f"seen-{ranks}-{rank}.jsonl").open("w", buffering=1) as log,
    ):
        if saved.exists():
            loader.load_state_dict(json.loads(saved.read_text()))
        while loader.state_dict()["epoch"] < epochs:
            for index, valid in loader:
                step += 1
                state = loader.state_dict()
                print(json.dumps([state, len(index), index[valid].tolist()]), file=log)
                if step == die_at and rank == 1:
                    (out / "stopped").touch()
                    time.sleep(600)
                dist.barrier()  # an unequal number of steps would hang here
                if rank == 0:
                    saved.with_suffix(".new").write_text(json.dumps(state))
                    saved.with_suffix(".new").rename(saved)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

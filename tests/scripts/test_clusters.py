"""The scripts for clusters, with programs of their names that do what the real ones do, here."""

import filecmp
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

# Runs each task of the array at once, and notes what it is told beside that.
SBATCH = f"""#!{sys.executable}
import os, re, subprocess, sys

options = dict(re.fullmatch(r"--([^=]+)=?(.*)", text).groups() for text in sys.argv[1:-2])
assert sys.argv[-2] == "--wrap"
with open(os.environ["NOTES"], "a") as notes:
    print(sorted(set(options.items()) - {{("parsable", "")}}), file=notes)
tasks = re.fullmatch(r"1-(\\d+)", options.get("array", "1-1"))[1]
for task in range(1, int(tasks) + 1):
    array = {{"ID": task, "COUNT": tasks, "MIN": 1, "MAX": tasks, "STEP": 1}}
    named = {{f"SLURM_ARRAY_TASK_{{name}}": str(value) for name, value in array.items()}}
    log = options["output"].replace("%a", str(task))
    with open(log, "ab") as output:
        environment = {{**os.environ, "SLURM_CPUS_PER_TASK": "1", **named}}
        command = ["bash", "-c", sys.argv[-1]]
        code = subprocess.call(command, env=environment, stdout=output, stderr=output)
        assert code == 0, open(log).read()
print("1234;cluster")
"""

RAY = """#!/bin/bash
echo "ray $*" >>"$NOTES"
case "$1 $2" in
    "start --head") exec sleep 60 ;;
    "start --address="*) exec sleep 60 ;;
esac
"""

SSH = """#!/bin/bash
echo "ssh $2" >>"$NOTES"
exec bash -c "$3"
"""

PACKER = """#!/bin/bash
sleep 0.3  # in which ssh is heard of
echo "packer $* at $RAY_ADDRESS" >>"$NOTES"
exit 1
"""

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def test_a_job_array_writes_the_parts_and_a_last_job_commits_what_it_has_not_seen(
    run_script: Run, tmp_path: Path, source: Path, packed: Path
) -> None:
    dst = tmp_path / "some where" / "it's"
    options = ["--parts", "2", "--time=1:00:00", source, dst, "--shard-samples", "10", "--quiet"]
    done = run_script("pack_slurm", *options, sbatch=SBATCH)
    assert f"Job 1234 packs 2 parts, job 1234 commits {dst}" in done.stdout
    compared = filecmp.dircmp(dst, packed)
    assert not compared.left_only + compared.right_only + compared.diff_files
    parts, last = map(eval, (tmp_path / "notes").read_text().splitlines())
    assert dict(parts)["array"] == "1-2"
    assert dict(last)["dependency"] == "afterany:1234"
    assert dict(parts)["time"] == dict(last)["time"] == "1:00:00"


def test_a_ray_cluster_is_begun_for_a_run_and_ends_with_it(run_script: Run, tmp_path: Path) -> None:
    arguments = ["--hosts", "a,b", "--port", "7000", "the src", "dst", "-j", "2"]
    run_script("pack_ray", *arguments, ray=RAY, ssh=SSH, packer=PACKER, code=1)  # that of packer
    notes = (tmp_path / "notes").read_text().splitlines()
    assert "ray start --head --port=7000 --block" in notes
    assert {"ssh a", "ssh b"} < set(notes)
    joined = [line for line in notes if line.startswith("ray start --address=")]
    assert len(joined) == 2
    address = joined[0].split("=")[1].split()[0]
    assert notes[-1] == f"packer pack the src dst -j 2 --executor ray at {address}"

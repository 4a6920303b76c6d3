"""Imports torch once for all workers of the tests' own process, as nearly all of its modules do.

It takes seconds, and without this each worker would take them. Workers of the processes that tests
start need none, nor do those of a test that adds to the environment, which has a server of its own.
What a worker loads of itself is to be tested in such a process.
"""

import os
import sys

parent, *names = os.environ.get("PRELOADED_FOR", "none").split()
names += ["PRELOADED_FOR", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"]
is_started_by_tests = parent == str(os.getppid()) and set(os.environ) <= {*names}
if is_started_by_tests and "reader.workers.worker" in sys.orig_argv:
    import torch  # noqa: F401

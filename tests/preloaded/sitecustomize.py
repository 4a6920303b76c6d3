"""Imports once, for all workers of the tests' own process, what nearly all of its modules import.

That takes seconds, and without this each worker would take them. Workers of the processes that
tests start need none, nor do those of a test that plays a rank, which has a server of its own. What
a worker loads of itself is to be tested in such a process.
"""

import os
import sys

is_started_by_tests = os.environ.get("PRELOADED_FOR") == str(os.getppid())
if is_started_by_tests and "RANK" not in os.environ and "reader.workers.worker" in sys.orig_argv:
    import PIL.Image  # noqa: F401
    import pytest  # noqa: F401
    import torch  # noqa: F401

    import reader.loader.loader  # noqa: F401

"""Imports torch once for all workers of the tests, whose own modules nearly all import it.

It takes seconds, and without this each worker would take them. So what a worker loads of itself is
to be tested in an environment without this folder.
"""

import sys

if "reader.workers.starter" in sys.orig_argv:
    import torch  # noqa: F401

"""The command line called in the tests' own process: a third of the time of a forked one.

For tests that look at what it prints and writes, and at no more of its process.
"""

import signal
import subprocess

from click.testing import CliRunner

from packer.cli.main import main


def call_packer(*arguments: object, code: int | None = None) -> "subprocess.CompletedProcess[str]":
    """Run the command line to its end, and assert its exit code if one is expected.

    An exception that would be a traceback is raised.
    """
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        done = CliRunner().invoke(main, [*map(str, arguments)], prog_name="packer")
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert code in (None, done.exit_code), done.output
    return subprocess.CompletedProcess(
        ["packer", *arguments], done.exit_code, done.stdout, done.stderr
    )

"""The command line: the commands, and their exit codes.

0: done; 1: finished, but something was rejected or damaged; 2: usage or unusable input;
130: interrupted, by Ctrl-C, SIGTERM or the SIGHUP of a terminal that is closed.
"""

import atexit
import os
import signal
import sys
from contextlib import suppress
from typing import Any

import click

from packer.cli.bench import bench
from packer.cli.dataset import export, extract, index, repair, verify
from packer.cli.info import info, report
from packer.cli.output import echo
from packer.cli.pack import CALLER, pack
from packer.cli.plan import plan
from packer.words import COMMAND_LINE, Shell
from reader.store.urls import LIBRARY


class _Commands(click.Group):
    def __call__(self, *args: Any, **more: Any) -> Any:
        """Be the process's command, which is over when this is."""
        try:
            return super().__call__(*args, **more)
        except SystemExit as end:
            if LIBRARY in sys.modules:
                _leave(end.code)
            raise

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands like click, each with its whole first sentence."""
        with formatter.section("Commands"):
            names, limit = self.list_commands(ctx), formatter.width * 9
            formatter.write_dl([(n, self.commands[n].get_short_help_str(limit)) for n in names])

    def invoke(self, ctx: click.Context) -> None:
        signal.signal(signal.SIGTERM, _terminate)
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # which `nohup` asks for
            signal.signal(signal.SIGHUP, _hang_up)
        try:
            try:
                code = super().invoke(ctx)
            except BrokenPipeError:
                raise  # click ends the command for who reads its output no further
            except Exception as error:
                sentence = _sentence(error, ctx.meta.get(CALLER, COMMAND_LINE))
                if sentence is None:
                    raise
                echo(f"packer: {sentence}", lines=True)
                code = 2
        except KeyboardInterrupt:
            echo("packer: interrupted. Run the same command again to continue.")
            code = 130
        ctx.exit(code)


def _leave(code: object) -> None:
    """End the process without a shutdown of Python, which a thread of the network library may join.

    One that is just letting go of an answer would be ended within its own code, which aborts.
    """
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # nobody reads it, or it is closed
            stream.flush()
    os._exit(code if isinstance(code, int) else int(code is not None))


def _terminate(*_: object) -> None:
    """End as Ctrl-C does, and let no SIGHUP disturb that: a closed session sends several."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    raise KeyboardInterrupt


def _hang_up(*_: object) -> None:
    """Make it a SIGTERM: where both are sent to end a session, they are one interrupt."""
    signal.raise_signal(signal.SIGTERM)


def _sentence(error: Exception, caller: Shell) -> str | None:
    from packer.errors import Rejected, said
    from reader.format import ShardfeedError
    from reader.format.files import reason_of

    if isinstance(error, ShardfeedError):
        return said(error, caller, names_files=not isinstance(error, Rejected))
    if isinstance(error, MemoryError):
        return "Out of memory. Free some, and run the same command again."
    if isinstance(error, OSError):
        what = reason_of(error)
        named = what if error.filename is None else f"{os.fsdecode(error.filename)}: {what}"
        return f"{named}. Once the cause is gone, run the same command again."
    return None


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(None, "--version", "-V", package_name="shardfeed", prog_name="packer")
def main() -> None:
    """Pack folders of images into sharded WebDataset tars that `reader` feeds to a GPU."""


for command in (pack, index, verify, repair, info, report, extract, export, bench, plan):
    main.add_command(command)

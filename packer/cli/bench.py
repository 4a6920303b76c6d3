"""`packer bench`: the reader measures itself; packer does not import it."""

import sys
from pathlib import Path

import click

# No module in the working directory gets in its way, and Ctrl-C ends it without a word: the parent
# says what there is to say.
_START = (
    "import signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); "
    "sys.path[:] = [sys.argv.pop(1), *filter(None, sys.path)]; "
    "from reader.bench import main; main(prog_name=sys.argv.pop(1))"
)


@click.command(add_help_option=False, context_settings={"ignore_unknown_options": True})
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def bench(arguments: tuple[str, ...]) -> int:
    """Measure how fast a data set is read, by number of worker processes."""
    import subprocess

    package = str(Path(__file__).parent.parent.parent)
    name = click.get_current_context().command_path
    return subprocess.run([sys.executable, "-c", _START, package, name, *arguments]).returncode

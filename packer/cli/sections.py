"""Help that is easy to look through: options under headings, and commands in whole sentences."""

from collections.abc import Mapping, Sequence
from typing import Any

import click


class Sectioned(click.Command):
    """A command whose `sections` say which options come under which heading; others come last."""

    def __init__(self, *arguments: Any, sections: Mapping[str, Sequence[str]], **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._heading = {name: title for title, names in sections.items() for name in names}

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """What click does, under several headings."""
        found: dict[str, list[tuple[str, str]]] = {title: [] for title in self._heading.values()}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx) if isinstance(param, click.Option) else None
            if record is not None:
                found[self._heading.get(param.name or "", list(found)[-1])].append(record)
        for title, records in found.items():
            with formatter.section(title):
                formatter.write_dl(records)


class Sentences(click.Group):
    """A group that lists each command with its whole first sentence."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """What click does, with nothing cut off."""
        with formatter.section("Commands"):
            formatter.write_dl(
                [
                    (name, self.commands[name].get_short_help_str(limit=formatter.width * 9))
                    for name in self.list_commands(ctx)
                ]
            )

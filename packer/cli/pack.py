"""`packer pack`."""

import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import click

from packer.cli import params
from packer.cli.output import Output, echo, name_files
from packer.cli.pack_output import (
    Announcing,
    json_of_errors,
    part_lines,
    print_explained,
    print_plan,
    report_lines,
)
from packer.options.declared import OPTIONS
from packer.words import Shell

CALLER = "caller"  # what writes the commands in messages, in the context of a command


def _pack_options(command: Callable[..., int]) -> Callable[..., int]:
    for name, one in reversed(OPTIONS.items()):
        if one.section:
            command = params.declared(name)(command)
    return command


class _Pack(params.Sectioned):
    """Has the commands that messages propose completed with DST, and with the options given."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta["typed"] = self.make_parser(ctx).parse_args([*args])[0]
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        given: dict[str, list[str]] = {}
        for param in filter(lambda one: one.name in ctx.meta["typed"], self.params[2:]):
            values, flag = ctx.meta["typed"][param.name], max(param.opts, key=len)
            words = given.setdefault(flag, [])
            for value in values if isinstance(values, list) else [values]:
                words.append(max(param.secondary_opts, key=len) if value is False else flag)
                words += [] if isinstance(value, bool) else [value]
        dst = ctx.params["dst"]
        ctx.meta[CALLER] = Shell() if dst is None else Shell(str(dst), given)
        return super().invoke(ctx)


_ONLY_HERE = ("dry_run", "explain", "page", "as_json", "quiet")


@click.command(cls=_Pack, sections=params.by_section(*_ONLY_HERE))
@click.argument("src", type=params.Place(exists=True, path_type=Path))
@click.argument("dst", type=params.Place(file_okay=False, path_type=Path), required=False)
@_pack_options
@click.option(
    "--dry-run", is_flag=True, help="Print what would be written, and stop. Images are not opened."
)
@click.option(
    "--explain",
    is_flag=True,
    help="Print how SRC is interpreted, with five of its samples and their members, and stop.",
)
@click.option(
    "--report",
    "page",
    metavar="FILE.html",
    type=params.new_file,
    help="Also write a page that shows the dataset, like `packer report`.",
)
@params.reporting()
def pack(
    src: Path | str,
    dst: Path | str | None,
    dry_run: bool,
    explain: bool,
    page: Path | None,
    output: Output,
    **given: Any,
) -> int:
    """Pack the images in SRC into the dataset DST.

    SRC is one of:

    \b
    - a folder of class folders, as torchvision's ImageFolder reads it
    - a folder of images without classes
    - a table that names images: .csv, .tsv, .jsonl or .parquet
    - a COCO annotation file (.json), or COCO's folder
    - Parquet files that hold the images, as Hugging Face's datasets
    - WebDataset tars, CIFAR's archives, MNIST's files
    - a tar or zip of such folders
    - a URL of any of these, such as s3://bucket/images or
      s3://bucket/train-{000..146}.tar

    Files that share an image's name up to a dot (x.json, x.txt, x.mask.png) become members of its
    sample. To continue an interrupted run, run the same command again.
    """  # noqa: D301  # click's mark of a list
    from packer.options.chosen import WITHOUT_TILER, options_of
    from packer.run.pack import run
    from packer.run.report import PartReport
    from packer.run.scopes import scope_of
    from packer.run.uploads import destination
    from packer.storage.source import locate

    if dst is None and not explain:
        raise click.UsageError("Missing argument 'DST'.")
    caller = click.get_current_context().meta[CALLER]
    options, how = options_of(src if isinstance(src, Path) else None, given)
    if page is not None:
        from packer.inspect.report.report import check_extra

        if how.part is not None or dry_run or explain:
            raise click.UsageError(
                "--report requires the whole dataset, which --dry-run, --explain and --part do not "
                "write. Remove one of the two options."
            )
        check_extra(page)
        if how.keys_of is not None:
            raise click.UsageError(
                "--report shows images, and --keys-of packs none. Remove one of the two options."
            )
    is_chosen = given["jpeg"] or options.raw or how.keys_of
    if options.jpeg != "tiled" and not (is_chosen or output.quiet):
        echo(f"packer: {WITHOUT_TILER}")
    if dst is None or explain:
        with locate(src, how.scratch) as found:
            return print_explained(found, options, how, output, caller)
    printed = sys.stderr if output.as_json else sys.stdout  # by a library, such as Ray
    show = Announcing(output, caller)
    refusing = json_of_errors(output.as_json, show.named)
    with locate(src, how.scratch) as found, destination(dst, how.scratch, src=src) as to, refusing:
        scope = scope_of(to, options, how)
        if dry_run:
            return print_plan(found, scope, output, caller)
        with redirect_stdout(printed):
            report = run(found, scope, show)
    name_files("rejected", sorted(set(report.rejected).difference(show.named)))
    if isinstance(report, PartReport):
        return output.report(report, part_lines(report), wrong=report.rejected)
    content = {"committed": True, **vars(report)}
    code = output.report(content, report_lines(report, show.announced), wrong=report.rejected)
    if page is not None:
        from packer.cli.info import print_reported
        from packer.inspect.report.report import report as write_page

        made = write_page(dst, page, how.jobs, progress=output.progress)
        code = max(code, print_reported(made, Output(False, output.is_silent)))
    return code

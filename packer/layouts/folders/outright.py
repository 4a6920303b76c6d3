"""What folders mean, said outright in templates (pure)."""

from collections.abc import Collection, Mapping

from packer.trees.meaning import ALL, FLAT, Layout, splits_of
from packer.trees.shape import inside


def outright(
    layout: Layout, with_classes: Collection[str], filled: Collection[str], pairs: Mapping[str, str]
) -> tuple[str, ...]:
    """Return the options of a command line that say what a layout is; none if no template can.

    `with_classes` are the splits that hold folders, `filled` those that hold images; `pairs` have
    their folders relative to the source.
    """
    top = _literal(f"{layout.top}/" if layout.top else "")
    ends = {split: _end(layout, split in with_classes) for split in layout.splits}
    if not any(layout.splits):
        ways = [ends[""]]
    else:
        name_of = {split: base.split("/")[0] for split, base in layout.splits.items()}
        usual = {name_of[split]: split for split in filled}
        ways = [
            f"{_generic(base, name_of[split])}/{ends[split]}"
            for split, base in layout.splits.items()
        ]
        ways = list(dict.fromkeys(ways))
        if len(ways) > 1 or splits_of(sorted(usual)) != usual:
            ways = [
                f"{{split={split}}}{_literal(base)}/{ends[split]}"
                for split, base in layout.splits.items()
            ]
    if pairs and (len(ways) > 1 or "{split=" in ways[0] or "." in pairs.values()):
        return ()
    images = [word for way in ways for word in ("--images", top + way)]
    members = [
        word
        for name, folder in pairs.items()
        for word in ("--member", f"{name}={inside(_literal(folder), ways[0])}")
    ]
    return () if "*" in "".join([*images, *members]) else (*images, *members)


def _end(layout: Layout, has_classes: bool) -> str:
    if layout.depth == FLAT or not has_classes:
        return "{key}"
    depth = {ALL: ":all", 1: ""}.get(layout.depth, f":{layout.depth}")
    return f"{{label{depth}}}/{{key}}"


def _generic(base: str, name: str) -> str:
    """Return a split's folder with the field in place of its name."""
    return "/".join("{split}" if one == name else _literal(one) for one in base.split("/"))


def _literal(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")

"""What `packer pack` makes of a layout, judged by the layout's truth."""

import contextlib
import json
import math
import os
import re
import shlex
import shutil
import signal
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Set
from fnmatch import fnmatchcase
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from click.testing import CliRunner
from PIL import Image

from layouts.images import SIDE, is_image, picture
from layouts.row import OR, Layout, Truth
from packer.cli.main import main
from reader.format import Index, Manifest

RIGHT = "right"  # packed, and all of the truth is there
KEPT = "kept"  # packed; a label is no label there, and a member of its sample holds it
BY_COMMAND = "by command"  # refused; a command that the message prints is right
BY_OPTION = "by option"  # refused; the same command with an option that the message names is right
BY_COMMANDS = "by commands"  # refused; so is that command, and the one in its message is right
WORKS = "refused, less works"  # what the message names packs, adds nothing, and stores less
SAID = "refused, a command that says what it ignores"
REFUSED = "refused"
WRONG = "wrong"
WRONG_BY_COMMAND = "wrong by command"  # a printed command stores what is not true
CRASHED = "crashed"
FAULTY = (WRONG, WRONG_BY_COMMAND, CRASHED)

_ALWAYS = ("--jpeg", "verbatim", "--png", "verbatim", "--jobs", "1")
_CHOSEN = ("It is a class", "Each is a sample of its own")
_STEPS = 2  # of commands that propose commands
_SPLITS = {
    "training": "train",
    "trn": "train",
    "valid": "val",
    "validation": "val",
    "dev": "val",
    "testing": "test",
    "tst": "test",
    "default": "",  # Datumaro's and CVAT's name of the only subset
}
_NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w])")
_COMMAND = re.compile(r"packer pack [^\n]*")


class Fault(NamedTuple):
    """What of a dataset is not as in the truth.

    Attributes:
        is_invented: it is there and not true; otherwise it is true and not there.
        is_kept: it is a class, and a member of the sample holds its name.
    """

    is_invented: bool
    text: str
    is_kept: bool = False


class Outcome(NamedTuple):
    """What became of a layout.

    Attributes:
        verdict: one of the above.
        message: what the command printed.
        faults: of the dataset, or of the one that a printed command made.
        commands: each that the message prints, up to one that is right, with its own verdict.
    """

    verdict: str
    message: str
    faults: tuple[str, ...] = ()
    commands: tuple[tuple[str, str], ...] = ()


def outcome_of(layout: Layout, folder: Path | None = None, *, steps: int = _STEPS) -> Outcome:
    """Lay `layout` out below `folder`, or a temporary one, pack it, and judge the dataset.

    Commands that a refusal prints are run if there are `steps`.
    """
    with contextlib.ExitStack() as stack:
        if folder is None:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="published-")))
        root = folder / "given"
        lay_out(layout, root)
        stack.enter_context(inside(root))
        src = str(root / layout.src) if layout.src else str(root)
        dst = str(folder / "packed")
        return _tried(["pack", src, dst, *_ALWAYS, *layout.options], layout, dst, steps)


def lay_out(layout: Layout, root: Path) -> None:
    """Write the files of `layout` below `root`."""
    root.mkdir(parents=True)
    masks = masks_of(layout)
    for path, content in layout.files.items():
        file = root / path
        if path.endswith("/"):
            file.mkdir(parents=True, exist_ok=True)
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(bytes_of(path, content, masks))


def bytes_of(path: str, content: str | bytes, masks: frozenset[str] = frozenset()) -> bytes:
    """Return what the file at `path` holds."""
    if isinstance(content, bytes):
        return content
    if content == "" and is_image(path):
        return picture(path, mask=path in masks)
    return content.encode()


def masks_of(layout: Layout) -> frozenset[str]:
    """Return the paths of masks, whose pictures have few values."""
    below = f"{layout.src}/" if layout.src else ""
    named = {name for truth in layout.truth.values() for name in truth.files}
    return frozenset(named | {below + name for name in named})


@contextlib.contextmanager
def inside(folder: Path) -> Iterator[None]:
    """Make `folder` the current one."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def _tried(arguments: list[str], layout: Layout, dst: str, steps: int) -> Outcome:
    code, message, crash = _run(arguments)
    if crash:
        return Outcome(CRASHED, f"{message}\n{crash}")
    if code == 0 or (code == 1 and (Path(dst) / "dataset.json").exists()):
        faults = list(_faults(Path(dst), layout))
        texts = tuple(fault.text for fault in faults)
        verdict = _verdict(faults)
        if faults and not any(fault.is_invented for fault in faults):
            texts = ("only lost:", *texts)
        return Outcome(verdict, message, texts)
    if steps == 0:
        return Outcome(REFUSED, message)
    return _proposed(message, arguments, layout, dst, steps)


def _run(arguments: list[str]) -> tuple[int, str, str]:
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        result = CliRunner().invoke(main, arguments, prog_name="packer")
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    error = result.exception
    crash = "" if error is None or isinstance(error, SystemExit) else f"{error!r}"
    return result.exit_code, result.output, crash


def _proposed(message: str, arguments: list[str], layout: Layout, dst: str, steps: int) -> Outcome:
    tried: list[tuple[str, Outcome]] = []
    for command in commands_of(message):
        shutil.rmtree(dst, ignore_errors=True)
        words = shlex.split(command)[1:]
        words = [dst if word == "DST" else word for word in words]
        words += [] if "--jobs" in words else _ALWAYS
        outcome = _tried(words, layout, dst, steps - 1)
        if outcome.verdict in FAULTY and any(f"{how}: {command}" in message for how in _CHOSEN):
            outcome = outcome._replace(verdict=REFUSED)  # who chooses it says so
        tried.append((command, outcome))
        if outcome.verdict == RIGHT:
            return _shown(BY_COMMAND, message, tried)
    for code in python_of(message):
        shutil.rmtree(dst, ignore_errors=True)
        tried.append((code, _executed(code, layout, dst)))
    verdicts = [outcome.verdict for _, outcome in tried]
    if RIGHT in verdicts:
        return _shown(BY_COMMAND, message, tried)
    if {BY_COMMAND, BY_COMMANDS} & set(verdicts):
        return _shown(BY_COMMANDS, message, tried)
    chosen: list[tuple[str, Outcome]] = []
    if steps == _STEPS:
        for option in options_of(message):
            shutil.rmtree(dst, ignore_errors=True)
            words = [*arguments, *shlex.split(option)]
            chosen.append((option, _tried(words, layout, dst, 0)))
    optional = [outcome for _, outcome in chosen if not _invents(outcome)]
    invents = [
        outcome
        for command, outcome in tried
        if _invents(outcome) and not _is_said(message, command, outcome)
    ]
    faults: tuple[str, ...] = ()
    if any(outcome.verdict == RIGHT for outcome in optional):
        verdict = BY_OPTION
    elif invents:
        verdict, faults = WRONG_BY_COMMAND, invents[0].faults
    elif WRONG_BY_COMMAND in verdicts:
        verdict = WRONG_BY_COMMAND
        faults = next(outcome.faults for _, outcome in tried if outcome.verdict == verdict)
    elif works := [
        outcome
        for outcome in (*(outcome for _, outcome in tried), *optional)
        if outcome.verdict in (WRONG, WORKS, KEPT)
    ]:
        verdict, faults = WORKS, works[0].faults
        if any(_invents(outcome) for outcome in works):
            verdict = SAID
    else:
        verdict = REFUSED
    return _shown(verdict, message, [*tried, *chosen], faults)


def _shown(
    verdict: str, message: str, tried: list[tuple[str, Outcome]], faults: tuple[str, ...] = ()
) -> Outcome:
    shown = tuple((command, outcome.verdict) for command, outcome in tried)
    return Outcome(verdict, message, faults, shown)


def _invents(outcome: Outcome) -> bool:
    """Whether what was packed is not true: an option that may be wrong is the user's choice."""
    return outcome.verdict in FAULTY and outcome.faults[:1] != ("only lost:",)


def _is_said(message: str, command: str, outcome: Outcome) -> bool:
    """Whether `message` names each file that `command` ignores, and all that is then made up."""
    words = shlex.split(command)
    globs = [glob for word, glob in pairwise(words) if word == "--ignore"]
    lines = message.splitlines()
    beside = next((line for line in lines if command in map(str, commands_of(line))), "")
    if not globs or not re.search(r"\bignore\b", beside.partition("packer pack ")[0]):
        return False
    named = re.split(r"[\s,:]+", _COMMAND.sub("", message))
    if not all(any(fnmatchcase(name, glob) for name in named) for glob in globs):
        return False
    read_as = " ".join(line for line in lines if line.startswith("Without "))
    known = set(re.split(r"[\s,:;().]+", read_as))
    for fault in outcome.faults:
        if found := re.search(r"its (?:label|split) is '(.+?)', (?:not|and) ", fault):
            if not known.issuperset(found[1].split()):
                return False
        elif re.search(r"sample$|its labels are|holds 'box ", fault):
            return False
    return True


def options_of(message: str) -> list[str]:
    """Return the options with values that the sentences of `message` name."""
    text = _COMMAND.sub("", message)
    found = re.findall(r"(?<![\w-])--[a-z-]+ (?:'[^']*'|[a-z0-9][\w|./-]*)", text)
    options = [one.rstrip(".") for one in found if one != "--root where"]
    known = ("--as ", "--class-depth ", "--label-column ", "--label-separator ", "--box-format ")
    others = ("--root ", "--split-column ", "--image-column ", "--pair ")
    return [one for one in dict.fromkeys(options) if one.startswith(known + others)]


def commands_of(message: str) -> list[str]:
    """Return the commands in `message` that pack, without what a sentence has around them."""
    found: list[str] = []
    for line in _COMMAND.findall(message):
        for part in re.split(r"(?=packer pack )", line):
            command = _trimmed(part)
            if command and command not in found:
                found.append(command)
    return found


def _trimmed(text: str) -> str:
    """Return the words of a command: SRC, DST, and options with their values."""
    words = _words(text)
    kept = words[:2]
    places = 0
    at = 2
    while at < len(words):
        word = words[at]
        last = word[-1:] in ".,;:)`" and len(word) > 1
        bare = word.rstrip(".,;:)`") if last else word
        if word.startswith("--"):
            if bare in ("--explain", "--dry-run"):
                return ""
            kept.append(bare)
            is_flag = bare in ("--dedupe", "--append", "--overwrite", "--check", "--no-shuffle")
            if not last and not is_flag and at + 1 < len(words):
                at += 1
                value = words[at]
                last = value[-1:] in ".,;:)`" and len(value) > 1  # a separator is a value
                kept.append(value.rstrip(".,;:)`") if last else value)
        elif places < 2:
            kept.append(bare if places else word)
            places += 1
        else:
            break
        if last:
            break
        at += 1
    return " ".join(map(shlex.quote, kept)) if places == 2 else ""


def _words(text: str) -> list[str]:
    lexer = shlex.shlex(text, posix=True, punctuation_chars=False)
    lexer.whitespace_split, lexer.commenters = True, ""
    words: list[str] = []
    with contextlib.suppress(ValueError):  # an apostrophe of the sentence behind it
        words.extend(lexer)
    return words


def python_of(message: str) -> list[str]:
    """Return the blocks of Python in `message` that pack."""
    blocks: list[str] = []
    lines = message.splitlines()
    for first, line in enumerate(lines):
        if not re.match(r"\s*(import|from) \w", line):
            continue
        if blocks and line in blocks[-1].splitlines():
            continue
        indent = len(line) - len(line.lstrip())
        block: list[str] = []
        for further in lines[first:]:
            if further.strip() and len(further) - len(further.lstrip()) < indent:
                break
            block.append(further[indent:])
        while block:
            code = "\n".join(block)
            try:
                compile(code, "message", "exec")
            except SyntaxError:
                block.pop()
            else:
                if "packer." in code:
                    blocks.append(code)
                break
    return blocks


def _executed(code: str, layout: Layout, dst: str) -> Outcome:
    code = re.sub(r"(['\"])(?:DST|shards)\1", lambda _: repr(dst), code)
    try:
        exec(compile(code, "message", "exec"), {"__name__": "__main__"})
    except Exception as error:
        return Outcome(REFUSED, f"{error!r}")
    if not (Path(dst) / "dataset.json").exists():
        return Outcome(REFUSED, "Nothing was packed.")
    faults = list(_faults(Path(dst), layout))
    return Outcome(_verdict(faults), "", tuple(fault.text for fault in faults))


def _verdict(faults: list[Fault]) -> str:
    if not faults:
        return RIGHT
    return KEPT if all(fault.is_kept for fault in faults) else WRONG


class _Sample(NamedTuple):
    name: str
    image: bytes
    label: str  # "": none
    split: str
    members: Mapping[str, bytes]


def _faults(dst: Path, layout: Layout) -> Iterator[Fault]:
    manifest = Manifest.load(dst)
    samples = list(_samples(dst, manifest))
    masks = masks_of(layout)
    contents = {path: bytes_of(path, text, masks) for path, text in layout.files.items()}
    for content in list(contents.values()):
        contents = _members_of(content) | contents
    for path in layout.truth.keys() - contents.keys():  # in an archive within another
        within = [one for name, one in contents.items() if path.endswith(f"/{name}")]
        contents |= {path: within[0]} if within else {}
    below = f"{layout.src}/" if layout.src else ""
    if layout.src.endswith(".zip"):
        below = ""
    found: dict[str, _Sample] = {}
    for sample in samples:
        path = _path_of(sample, layout, contents, below)
        if path is None:
            yield Fault(True, f"{sample.name} is a sample")
        elif path in found:
            yield Fault(True, f"{path} is more than one sample")
        else:
            found[path] = sample
    is_whole = len({truth.split for truth in layout.truth.values()}) == 1
    for path, truth in layout.truth.items():
        if path not in found:
            yield Fault(False, f"{path} is not a sample")
            continue
        for fault in _of_sample(found[path], truth, is_whole, manifest, contents, below):
            yield fault._replace(text=f"{path}: {fault.text}")


def _members_of(content: bytes) -> dict[str, bytes]:
    """Return the files of an archive, and of those in it, by their paths; of any other, none."""
    try:
        if content.startswith(b"PK\3\4"):
            with zipfile.ZipFile(BytesIO(content)) as archive:
                found = {name: archive.read(name) for name in archive.namelist()}
        else:
            with tarfile.open(fileobj=BytesIO(content)) as archive:
                members = [(one.name, archive.extractfile(one)) for one in archive]
                found = {name: file.read() for name, file in members if file is not None}
    except (tarfile.TarError, zipfile.BadZipFile):
        return {}
    inner = (_members_of(one) for one in list(found.values()))
    return {name: one for some in (*inner, found) for name, one in some.items()}


def _samples(dst: Path, manifest: Any) -> Iterator[_Sample]:
    for shard in manifest.shards:
        index = Index.of_shard(dst, shard, len(manifest.classes), mapped=False)
        tar = (dst / shard.file).read_bytes()
        columns = index.columns
        for row in range(len(index)):
            label = int(columns["label"][row])
            members = {}
            for member in index.members:
                offset = int(columns[f"{member}.offset"][row])
                if offset:
                    members[member] = tar[offset : offset + int(columns[f"{member}.size"][row])]
            members.pop("cls", None)
            offset, size = int(columns["offset"][row]), int(columns["size"][row])
            name = "" if label < 0 else str(label)
            if label >= 0 and manifest.classes:
                name = manifest.classes[label]
            yield _Sample(
                os.fsdecode(index.bytes_of("name", row)),
                tar[offset : offset + size],
                name,
                shard.split or "",
                members,
            )


def _path_of(
    sample: _Sample, layout: Layout, contents: Mapping[str, bytes], below: str
) -> str | None:
    """Return the path in the truth of the image that `sample` is."""
    name = sample.name.replace("\\", "/")
    while name.startswith(("./", "../")):
        name = name.split("/", 1)[1]
    ends = [
        path
        for path in layout.truth
        if f"/{path}".endswith(f"/{name}") or f"/{name}".endswith(f"/{path}")
    ]
    if name in layout.truth:
        ends = [name]
    same = [
        path
        for path in layout.truth
        if contents.get(below + path, contents.get(path)) == sample.image
    ]
    if len(ends) == 1 and (not same or ends[0] in same or below + ends[0] not in contents):
        return ends[0]
    if same:
        return same[0]
    texts = [member.decode("utf-8", "replace") for member in sample.members.values()]
    found = [  # an image within a table has a name of no file
        path
        for path, truth in layout.truth.items()
        if path not in contents and truth.holds and any(truth.holds[0] in text for text in texts)
    ]
    return found[0] if len(found) == 1 and not ends else None


def _of_sample(
    sample: _Sample,
    truth: Truth,
    is_whole: bool,
    manifest: Any,
    contents: Mapping[str, bytes],
    below: str,
) -> Iterator[Fault]:
    """Yield the faults of one sample.

    `is_whole`: all of the layout is one split, which a dataset need not name.
    """
    parsed = {name: _parsed(name, content) for name, content in sample.members.items()}
    texts = _Texts(sample, parsed, manifest)
    if truth.labels:
        yield from _of_labels(sample, truth, manifest, parsed, texts)
    elif truth.label and not sample.label and "" not in truth.label:
        is_kept = any(map(texts.hold, truth.label))
        yield Fault(False, f"it has no label, not one of {sorted(truth.label)}", is_kept)
    elif truth.label and sample.label not in {"", *truth.label}:
        yield Fault(True, f"its label is {sample.label!r}, not one of {sorted(truth.label)}")
    elif sample.label and not truth.label and not _is_of_objects(sample.label, truth, manifest):
        yield Fault(True, f"its label is {sample.label!r}, and it has none")
    own, right = (
        _SPLITS.get(split.lower(), split.lower()) for split in (sample.split, truth.split)
    )
    if own != right and (own or not is_whole):
        yield Fault(bool(own), f"its split is {own!r}, not {right!r}")
    for text in truth.holds:
        if not texts.hold(text):
            yield Fault(text.startswith("box "), f"no member holds {text!r}")
    for file in truth.files:
        content = contents.get(below + file, contents.get(file))
        if not any(_same(member, content) for member in sample.members.values()):
            yield Fault(False, f"{file} is none of its members")


def _is_of_objects(label: str, truth: Truth, manifest: Any) -> bool:
    """Whether all objects of an image with boxes may be of the class that is its label."""
    return bool(manifest.boxes) and label in truth.holds


def _of_labels(
    sample: _Sample, truth: Truth, manifest: Any, parsed: Mapping[str, Any], texts: "_Texts"
) -> Iterator[Fault]:
    right = [frozenset(one.split(OR)) for one in truth.labels]
    named = [_named(value, manifest) for key, value in _entries(parsed) if key == "labels"]
    if sample.label and not _are(right, {sample.label}):
        yield Fault(True, f"its label is {sample.label!r}, not {sorted(truth.labels)}")
    elif not sample.label and named and not any(_are(right, one) for one in named):
        yield Fault(True, f"its labels are {named}, not {sorted(truth.labels)}")
    elif not sample.label and not named:
        is_kept = all(map(texts.hold, truth.labels))
        yield Fault(False, f"it has no labels, not {sorted(truth.labels)}", is_kept)


def _are(right: list[frozenset[str]], found: Set[str]) -> bool:
    """Whether `found` has one name of each class that is right, and no other."""
    return len(found) == len(right) and all(names & found for names in right)


def _named(value: Any, manifest: Any) -> frozenset[str]:
    values = value if isinstance(value, list) else [value]
    classes = manifest.classes
    return frozenset(
        classes[one] if isinstance(one, int) and 0 <= one < len(classes) else str(one)
        for one in values
    )


class _Texts:
    """What the members of a sample hold: texts, numbers, classes and boxes."""

    def __init__(self, sample: _Sample, parsed: Mapping[str, Any], manifest: Any) -> None:
        self.raw = [
            content.decode("utf-8-sig", "replace")
            for name, content in sample.members.items()
            if not is_image(f"x.{name}")
        ]
        self.texts = list(_strings(parsed))
        self.numbers = {float(found) for text in self.raw for found in _NUMBER.findall(text)}
        self.classes = set(_classes(parsed, sample.members, manifest))
        self.declared = manifest.boxes
        self.boxes = list(_boxes(sample, parsed, manifest))
        self.known = self.numbers | {number for box in self.boxes for number in _forms(box)}

    def hold(self, text: str) -> bool:
        if OR in text:
            return any(map(self.hold, text.split(OR)))
        if text.startswith("box "):
            box = [float(number) for number in text.split()[1:]]
            return not self.boxes or any(_close(box, own) for own in self.boxes)
        if any(text in own for own in (*self.raw, *self.texts)) or text in self.classes:
            return True
        numbers = text.replace(",", " ").split()
        if not numbers or not all(_NUMBER.fullmatch(number) for number in numbers):
            return False
        return all(
            any(math.isclose(float(number), own, rel_tol=1e-4, abs_tol=1e-4) for own in self.known)
            for number in numbers
        )


def _parsed(name: str, content: bytes) -> Any:
    if name == "json" or name.endswith(".json"):
        try:
            return json.loads(content)
        except ValueError:
            return None
    return None


def _entries(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, one in value.items():
            yield str(key), one
            yield from _entries(one)
    elif isinstance(value, list):
        for one in value:
            yield from _entries(one)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, one in value.items():
            yield str(key)
            yield from _strings(one)
    elif isinstance(value, list):
        for one in value:
            yield from _strings(one)


def _classes(
    parsed: Mapping[str, Any], members: Mapping[str, bytes], manifest: Any
) -> Iterator[str]:
    """Yield the names of the class numbers that the members hold."""
    classes = manifest.classes
    numbers: list[Any] = []
    for key, value in _entries(parsed):
        if key in ("categories", "labels", "category", "label"):
            numbers += value if isinstance(value, list) else [value]
    for line in members.get("txt", b"").decode("utf-8-sig", "replace").splitlines():
        first = line.split()[:1]
        if first and first[0].isdigit():
            numbers.append(int(first[0]))
    for number in numbers:
        if isinstance(number, int) and 0 <= number < len(classes):
            yield classes[number]


def _boxes(sample: _Sample, parsed: Mapping[str, Any], manifest: Any) -> Iterator[list[float]]:
    """Yield the boxes that the dataset declares as x, y, width and height in pixels."""
    for member, encoding in (manifest.boxes or {}).items():
        width, height = Image.open(BytesIO(sample.image)).size
        for numbers in _written(sample.members.get(member), parsed.get(member), encoding):
            scales = [(1, 1), (width, height)]
            if encoding.normalized is not None:
                scales = [scales[encoding.normalized]]
            for across, down in scales:
                a, b, c, d = map(float, numbers[:4])
                a, b, c, d = a * across, b * down, c * across, d * down
                if encoding.format == "xyxy":
                    c, d = c - a, d - b
                elif encoding.format == "cxcywh":
                    a, b = a - c / 2, b - d / 2
                yield [a, b, c, d]


def _written(content: bytes | None, parsed: Any, encoding: Any) -> Iterator[list[float]]:
    if content is None:
        return
    if parsed is None:
        for line in content.decode("utf-8-sig", "replace").splitlines():
            if len(words := line.split()) >= 5:
                yield [float(word) for word in words[1:5]]
        return
    path = encoding.path
    for name in path.split(".") if isinstance(path, str) else path:
        parsed = parsed.get(name) if isinstance(parsed, dict) else None
    for box in parsed if isinstance(parsed, list) else ():
        if isinstance(box, list) and len(box) >= 4:
            yield box


def _forms(box: list[float]) -> Iterator[float]:
    """Yield the numbers by which files write a box."""
    x, y, width, height = box
    pixels = (x, y, width, height, x + width, y + height, x + width / 2, y + height / 2)
    for number in pixels:
        yield number
        yield number / SIDE
        yield number / SIDE * 100  # Label Studio's percents


def _close(box: list[float], own: list[float]) -> bool:
    return all(abs(one - other) < 0.02 for one, other in zip(box, own, strict=True))


def _same(member: bytes, content: bytes | None) -> bool:
    if content is None or member == content:
        return content is not None
    try:
        mine, other = Image.open(BytesIO(member)), Image.open(BytesIO(content))
    except OSError:
        pass
    else:
        return mine.size == other.size and mine.tobytes() == other.tobytes()
    try:
        return json.loads(member) == json.loads(content)
    except ValueError:
        return False

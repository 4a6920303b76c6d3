"""The rooms: arrows run from a higher floor to a lower one, and each process loads what it uses."""

import ast
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from PIL import Image

import packer
import reader
import reader.format

ROOT = Path(__file__).parent.parent

# A room, or a module that stands alone, imports from lower floors and from itself.
FLOORS = {
    "reader": [
        {"lazy"},
        {"format"},
        {"processes", "errors", "rng", "system"},
        {"advice", "checks", "geometry", "store"},
        {"batch", "look", "transforms"},
        {"cache", "decode"},
        {"dataset"},
        {"gpu_decode", "order"},
        {"monitoring"},
        {"fields"},
        {"workers"},
        {"loader"},
        {"cuda"},
    ],
    "packer": [
        {"words"},
        {"errors", "keys", "progress"},
        {"files", "processes"},
        {"isolated"},
        {"images"},
        {"options"},
        {"samples"},
        {"sources"},
        {"storage"},
        {"plan"},
        {"shards"},
        {"run"},
        {"inspect"},
        {"api", "cli", "writer"},
        {"__main__"},
    ],
    "packer.sources": [
        {"trees"},
        {"containers", "tables"},
        {"interpretation", "members"},
        {"scanners"},
        {"readings"},
        {"evidence"},
        {"proposals"},
        {"audit"},
    ],
}

# Notes who imports what while every module is imported, a folder is packed and read.
RECORD = """
import builtins, importlib, json, pkgutil, sys

arrows = set()
plain = builtins.__import__

def noting(name, globals=None, locals=None, fromlist=(), level=0):
    module = plain(name, globals, locals, fromlist, level)
    importer = (globals or {}).get("__name__", "")
    unpickled = isinstance(fromlist, list)  # as C asks: what was sent names the module
    if {importer.split(".")[0], name.split(".")[0]} <= {"reader", "packer"} and not unpickled:
        inner = {f"{name}.{item}" for item in fromlist or ()} & set(sys.modules)
        arrows.update((importer, imported) for imported in (inner or {name}) - {importer})
    return module

builtins.__import__ = noting
import packer, reader
for package in (packer, reader):
    for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if not found.name.endswith("__main__"):
            importlib.import_module(found.name)

from packer.cli.main import main
images, shards = sys.argv[1:]
main(["pack", images, shards, "--jobs", "1", "--quiet"], standalone_mode=False)
main(["verify", shards, "--decode", "--jobs", "1", "--quiet"], standalone_mode=False)
for batch in reader.CUDAPrefetcher(reader.Loader(shards, batch_size=2, workers=1)):
    pass
print(json.dumps(sorted(arrows)))
"""

# Each process notes what it loads, in the folder LOADED: some are killed, which no `atexit` hears.
TELL = """
import os, sys

noted = open(os.path.join(os.environ["LOADED"], str(os.getpid())), "w", buffering=1)
noted.write("\\n".join([" ".join(sys.orig_argv).replace("\\n", " "), *sys.modules, ""]))

def note(event, arguments):
    if event == "import":
        noted.write(arguments[0] + "\\n")

sys.addaudithook(note)
"""


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rooms") / "images"
    for number in range(8):
        path = folder / "ab"[number % 2] / f"{number}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (80, 60), (30 * number, 90, 30)).save(path)
    return folder


@pytest.fixture(scope="module")
def arrows(images: Path) -> list[tuple[str, str]]:
    import json

    done = subprocess.run(
        [sys.executable, "-c", RECORD, str(images), str(images.parent / "recorded")],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    return [(importer, imported) for importer, imported in json.loads(done.stdout.split("\n")[-2])]


@cache
def written_arrows() -> list[tuple[str, str]]:
    """Who imports what by its text: within functions and for type checkers, too."""
    modules = {
        ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): file
        for package in ("packer", "reader")
        for file in (ROOT / package).rglob("*.py")
    }
    found = set()
    for importer, file in modules.items():
        for node in ast.walk(ast.parse(file.read_text())):
            named: list[str] = []
            if isinstance(node, ast.Import):
                named = [item.name for item in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module:
                inner = [f"{node.module}.{item.name}" for item in node.names]
                named = [name if name in modules else node.module for name in inner]
            found |= {(importer, name) for name in named if name in modules}
    return sorted(found)


def room(module: str) -> tuple[str, str]:
    package, _, rest = module.partition(".")
    return package, rest.split(".")[0]


def floor(house: str, module: str) -> int | None:
    """The floor of a module in a package, or in a room that has floors; its face has none."""
    inside, _, rest = module.removeprefix(house).partition(".")
    if inside or not rest:
        return None
    name = rest.split(".")[0]
    found = [at for at, rooms in enumerate(FLOORS[house]) if name in rooms]
    assert found, f"{module} lies on no floor"
    return found[0]


@pytest.mark.parametrize("house", FLOORS)
def test_arrows_between_rooms_run_downwards(house: str, arrows: list[tuple[str, str]]) -> None:
    depth = house.count(".") + 2

    def same_room(*modules: str) -> bool:
        return len({tuple(module.split(".")[:depth]) for module in modules}) == 1

    upwards = [
        f"{importer} -> {imported}"
        for importer, imported in [*arrows, *written_arrows()]
        if (above := floor(house, importer)) is not None
        and (below := floor(house, imported)) is not None
        and not same_room(importer, imported)
        and above <= below
    ]
    assert not upwards


def test_no_modules_import_each_other_in_a_circle() -> None:
    below: dict[str, set[str]] = {}
    for importer, imported in written_arrows():
        if room(importer)[1] and imported != "packer":  # which has the version
            below.setdefault(importer, set()).add(imported)
    done: set[str] = set()

    def visit(module: str, way: tuple[str, ...]) -> None:
        assert module not in way, " -> ".join([*way, module])
        if module not in done:
            for imported in below.get(module, ()):
                visit(imported, (*way, module))
            done.add(module)

    for module in below:
        visit(module, ())


def test_reader_never_imports_packer(arrows: list[tuple[str, str]]) -> None:
    assert not [
        arrow for arrow in arrows if room(arrow[0])[0] == "reader" and room(arrow[1])[0] == "packer"
    ]


def test_packer_uses_the_format_and_the_whole_reader_where_it_checks_or_measures(
    arrows: list[tuple[str, str]],
) -> None:
    users = {
        importer
        for importer, imported in arrows
        if room(importer)[0] == "packer"
        and room(imported)[0] == "reader"
        # One way to stores, one to processes.
        and room(imported)[1] not in ("", "format", "cache", "errors", "store", "processes")
        # One rule for both: usable cores, how numbers are mixed, names imported when first used.
        and imported not in ("reader.system", "reader.rng", "reader.lazy")
    }
    # A shuffle is what a Loader takes.
    assert {user for user in users if room(user)[1] != "inspect"} <= {"packer.cli.plan"}


ROOMS = [
    file.parent.relative_to(ROOT)
    for package in ("packer", "reader")
    for file in (ROOT / package).glob("*/**/__init__.py")
    if file.parent.name != "published"  # whose modules nobody has to know: each is found and asked
]


@pytest.mark.parametrize("place", sorted(ROOMS), ids=str)
def test_the_face_of_a_room_names_its_modules(place: Path) -> None:
    face = ast.get_docstring(ast.parse((ROOT / place / "__init__.py").read_text())) or ""
    modules = {file.stem for file in (ROOT / place).glob("*.py")} - {"__init__"}
    assert {module for module in modules if not re.search(rf"\b{module}\b", face)} == set()


def loaded(tmp_path: Path, *command: str) -> dict[str, set[str]]:
    """What each process of a command has loaded when it ends, by its arguments."""
    (tmp_path / "site").mkdir(exist_ok=True)
    (tmp_path / "site" / "sitecustomize.py").write_text(TELL)
    told = tmp_path / "loaded"
    told.mkdir()
    path = f"{tmp_path / 'site'}{os.pathsep}{ROOT}"
    subprocess.run(
        [sys.executable, *command],
        env=os.environ | {"PYTHONPATH": path, "LOADED": str(told)},
        check=True,
        capture_output=True,
    )
    found: dict[str, set[str]] = {}
    for file in told.iterdir():
        arguments, *modules = file.read_text().split("\n")
        found.setdefault(arguments, set()).update(modules)
    return found


def test_every_public_name_is_there_and_nothing_else_is_shown() -> None:
    for package in (packer, reader, reader.format):
        assert dir(package) == sorted(package.__all__)
        assert all(hasattr(package, name) for name in package.__all__)


def heavy(modules: set[str]) -> set[str]:
    return modules & {"torch", "cv2", "simplejpeg", "numba", "pyarrow", "reader.loader.loader"}


@pytest.mark.parametrize("statement", ["import packer", "import reader", "import reader.format"])
def test_importing_the_face_or_the_format_loads_no_decoder(tmp_path: Path, statement: str) -> None:
    [modules] = loaded(tmp_path, "-c", statement).values()
    assert not heavy(modules)


def test_the_help_of_a_command_loads_neither_numpy_nor_the_reader(tmp_path: Path) -> None:
    [modules] = loaded(tmp_path, "-m", "packer", "pack", "--help").values()
    assert not modules & {"numpy", "PIL", "asyncio", "concurrent.futures", *heavy(modules)}


def test_a_packing_process_loads_no_decoder_of_the_reader(tmp_path: Path, images: Path) -> None:
    shards = str(tmp_path / "shards")
    options = ["--jobs", "2", "--shard-samples", "2", "--quiet"]
    processes = loaded(tmp_path, "-m", "packer", "pack", str(images), shards, *options)
    assert len(processes) > 1  # the command and those that it packs in
    for modules in processes.values():
        assert not modules & {"torch", "cv2", "reader.decode.decoder"}
    tilers = [arguments for arguments, modules in processes.items() if "numba" in modules]
    assert len(tilers) == len(processes) - 1  # the command itself tiles nothing


def test_a_worker_loads_no_torch(tmp_path: Path, packed: Path) -> None:
    told = tmp_path / "told"
    script = f"""
import os, sys
import reader

def tell(sample):
    place = f"{told}-{{os.getpid()}}"
    if not os.path.exists(place):
        with open(place, "w") as file:
            file.write(chr(10).join(sys.modules))
    return sample

list(reader.Loader({str(packed)!r}, batch_size=2, workers=1, map_sample=tell))
os.remove(f"{told}-{{os.getpid()}}")
"""
    plain = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run([sys.executable, "-c", script], check=True, env=plain)
    [worker] = tmp_path.glob("told-*")
    modules = set(worker.read_text().split())
    assert "reader.workers.worker" in modules
    assert not modules & {"torch", "numba", "reader.loader.loader"}

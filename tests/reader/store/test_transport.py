"""A backend from outside: one module with its verbs, under a scheme of its own."""

import asyncio
import sys
from pathlib import Path
from types import ModuleType

import pytest

from packer.storage.download import fetch_dataset
from reader.store.client import Store
from reader.store.errors import Missing
from reader.store.transport import BACKENDS, Access, Answer


class Folders:
    """The few verbs that reading needs, over files."""

    def __init__(self, access: Access) -> None:
        self._folder = Path(access.url.removeprefix("outside://"))

    async def get_range(self, name: str, start: int, stop: int, tag: str | None) -> Answer:
        content = (await self.get(name, 1 << 30)).content
        return Answer(None, len(content), content[start:stop])

    async def get(self, name: str, most: int) -> Answer:
        try:
            content = (self._folder / name).read_bytes()
        except FileNotFoundError:
            raise Missing from None
        return Answer(None, len(content), memoryview(content))


def test_a_backend_needs_one_module_and_its_scheme(
    packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = ModuleType("outside")
    monkeypatch.setattr(module, "opened", Folders, raising=False)
    monkeypatch.setitem(sys.modules, "outside", module)
    monkeypatch.setitem(BACKENDS, "outside", "outside")
    store = Store(f"outside://{packed}", {}, None)
    asyncio.run(fetch_dataset(store, tmp_path, is_whole=True))
    for shard in packed.glob("shard-*"):
        assert (tmp_path / shard.name).read_bytes() == shard.read_bytes()

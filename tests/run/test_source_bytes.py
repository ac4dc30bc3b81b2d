"""A source's bytes that changed while nothing else of its file did: what is noticed, and what is said."""

import mmap
import time

import pytest

from rocky.run.checksums import Checksums, state_of
from tests.run.runs import Shop
from tests.run.test_reuse import built, reused

pytestmark = pytest.mark.slow

BYTES = '\n[reuse]\nsources = "bytes"\n'


class Mapping:
    """A file that is written through a mapping, which changes neither its size nor its times."""

    def __init__(self, path, monkeypatch) -> None:
        self._path = path
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), 0)
        # A page that was written to once is written to again without a word to the file system.
        self._map[0:1] = self._map[0:1]
        self._before = state_of(str(path))
        # As if the file had been so for an hour.
        monkeypatch.setattr("rocky.run.checksums.time_ns", lambda: time.time_ns() + 3600 * 10**9)
        monkeypatch.setattr(
            "rocky.run.engine.sources.time_ns", lambda: time.time_ns() + 3600 * 10**9
        )

    def replace(self, old: bytes, new: bytes) -> None:
        at = self._map.find(old)
        self._map[at : at + len(new)] = new
        assert new in self._path.read_bytes()
        assert self._before == state_of(str(self._path))


@pytest.fixture
def shop(tmp_path) -> Shop:
    made = Shop(tmp_path)
    made.keeps_checksums = True
    return made


def read_bytes_always(shop: Shop) -> None:
    config = shop.root / "rocky.toml"
    config.write_text(config.read_text() + BYTES)


def proofs(report) -> dict[str, str | None]:
    return {
        each.step.name: each.execution.input_proof_class
        for each in report.outcomes
        if each.step.kind == "build"
    }


def test_with_bytes_a_source_that_was_changed_through_a_mapping_is_built_again(shop, monkeypatch):
    read_bytes_always(shop)
    mapping = Mapping(shop.root / "data/orders.csv", monkeypatch)
    shop.run()
    assert "content" == reused(shop.run())["stg_orders"]

    mapping.replace(b"FR", b"IT")
    after = shop.run()

    assert "stg_orders" in built(after)
    assert "strong" == proofs(after)["stg_orders"]


def test_with_stat_such_a_change_is_not_noticed_and_the_proof_says_what_was_looked_at(
    shop, monkeypatch
):
    mapping = Mapping(shop.root / "data/orders.csv", monkeypatch)
    assert "strong" == proofs(shop.run())["stg_orders"]

    mapping.replace(b"FR", b"IT")
    after = shop.run()

    assert "content" == reused(after)["stg_orders"]
    assert "stat" == proofs(after)["stg_orders"]


def test_with_bytes_a_build_that_relied_on_a_remembered_hash_is_not_reused(shop, monkeypatch):
    mapping = Mapping(shop.root / "data/orders.csv", monkeypatch)
    shop.run()
    mapping.replace(b"FR", b"IT")
    model = shop.root / "models/stg_orders.sql"
    model.write_text(model.read_text().rstrip() + " WHERE 1 = 1\n")
    # The rows are of the new bytes, the hash is of the old ones.
    assert "stat" == proofs(shop.run())["stg_orders"]
    mapping.replace(b"IT", b"FR")

    read_bytes_always(shop)
    after = shop.run()

    assert "stg_orders" in built(after)
    assert "strong" == proofs(after)["stg_orders"]


def test_with_bytes_a_source_that_changes_while_it_is_read_gives_no_proof(shop, monkeypatch):
    read_bytes_always(shop)
    mapping = Mapping(shop.root / "data/orders.csv", monkeypatch)

    def change(_: str) -> None:
        mapping.replace(b"FR", b"IT")
        monkeypatch.setattr(mapping, "replace", lambda *_: None)

    assert None is proofs(shop.run("stg_orders", before_write=change))["stg_orders"]


def test_a_file_is_as_old_as_it_was_before_it_was_read(tmp_path, monkeypatch):
    path, now = tmp_path / "f", [0]
    path.write_bytes(b"1")
    changed = path.stat().st_mtime_ns
    now[0] = changed + 10**9
    monkeypatch.setattr("rocky.run.checksums.time_ns", lambda: now[0])
    # A file system with coarse times, and a file that takes seconds to read.
    monkeypatch.setattr("rocky.run.checksums.state_of", lambda _: (1, changed, changed, 1))

    def slow(path):
        read = path_bytes(path)
        now[0] += 3 * 10**9
        (tmp_path / "f").write_bytes(b"2")
        return read

    def path_bytes(path):
        with open(path, "rb") as file:  # noqa: PTH123 - a text, as the hash gets it
            return file.read().hex()

    monkeypatch.setattr("rocky.run.checksums.hash_file", slow)
    checksums = Checksums(tmp_path)

    assert (b"1".hex(),) == checksums.of([str(path)])
    assert (b"2".hex(),) == checksums.of([str(path)])


def test_whoever_asks_is_told_whether_a_file_was_read(tmp_path, monkeypatch):
    path = tmp_path / "f"
    path.write_bytes(b"1")
    monkeypatch.setattr("rocky.run.checksums.time_ns", lambda: time.time_ns() + 3600 * 10**9)
    checksums, always = Checksums(tmp_path), Checksums(tmp_path, always=True)

    assert [True, False] == [checksums.look([str(path)]).read for _ in range(2)]
    assert [True, True] == [always.look([str(path)]).read for _ in range(2)]

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rocky.compiler.fingerprints import FINGERPRINTS, fingerprints_of
from rocky.compiler.validity import RECORDS
from rocky.diagnostics import Code
from rocky.project.name_cache import NAMES
from rocky.project.user_cache import cache_place
from tests.compiler.projects import (
    SHOP,
    answers,
    assert_as_if_cold,
    compiled,
    edit,
    write,
)

SHOP_MODELS = ("orders", "totals", "notes", "report")
COMPILE = "import sys, rocky; rocky.compile_project(rocky.load_project(sys.argv[1]))"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A shop that was compiled once."""
    write(tmp_path, SHOP)
    compiled(tmp_path)
    return tmp_path


def cache_file(root: Path) -> Path:
    folder = cache_place(root).folder
    assert folder is not None
    return folder / RECORDS


def start(code: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", code, *arguments], text=True, stdout=-1)


def codes(compilation) -> list[Code]:
    return [each.code for each in compilation.diagnostics]


# ------------------------------------------------------------------ what is bound again


def test_a_first_compile_binds_everything_and_a_second_nothing(tmp_path):
    write(tmp_path, SHOP)
    bound = [compiled(tmp_path).statistics.bound for _ in range(2)]

    assert [4, 0] == bound
    assert 0 == assert_as_if_cold(tmp_path).statistics.bound


def test_a_body_edit_binds_one_model(shop):
    edit(shop, "models/orders.sql", "id > 0", "id > 1")

    assert 1 == assert_as_if_cold(shop).statistics.bound


def test_a_new_output_type_binds_readers_until_nothing_changes_for_them(shop):
    edit(shop, "models/orders.sql", "amount,", "CAST(amount AS DECIMAL(12,2)) AS amount,")

    # orders, totals and notes read it; report sees a wider total and is bound too.
    assert 4 == assert_as_if_cold(shop).statistics.bound
    edit(shop, "models/totals.sql", "sum(amount)", "CAST(sum(amount) AS DECIMAL(20,2))")
    assert 2 == assert_as_if_cold(shop).statistics.bound
    edit(shop, "models/orders.sql", "DECIMAL(12,2)", "DECIMAL(11,2)")
    # What reached report through totals is cut off by the cast, and notes gives what it gave.
    assert 3 == assert_as_if_cold(shop).statistics.bound


def test_a_comment_in_a_model_does_not_reach_its_readers(shop):
    edit(shop, "models/totals.sql", "SELECT", "-- totals\nSELECT")

    assert 1 == assert_as_if_cold(shop).statistics.bound


def test_a_touched_file_binds_nothing(shop):
    for path in (shop / "models").iterdir():
        path.touch()

    assert 0 == assert_as_if_cold(shop).statistics.bound


def test_a_changed_source_binds_its_readers_until_nothing_changes_for_them(shop):
    edit(shop, "sources/raw.toml", '"string"', '"binary"')

    # report reads what `upper` made of the note: a string, as before.
    assert 3 == assert_as_if_cold(shop).statistics.bound


def test_a_changed_setting_binds_its_model_alone(shop):
    write(shop, {"models/totals.toml": 'intent = "how much"\n'})

    assert 1 == assert_as_if_cold(shop).statistics.bound


def test_a_new_schema_of_a_target_reaches_those_who_wrote_the_old_one(shop):
    write(shop, {"models/totals.toml": '[target]\nschema = "old"\n'})
    edit(shop, "models/report.sql", "t.total", "old.totals.total")
    edit(shop, "models/report.sql", "totals AS t", "totals")
    edit(shop, "models/report.sql", "t.id", "totals.id")
    assert [] == codes(assert_as_if_cold(shop))
    edit(shop, "models/totals.toml", "old", "new")

    assert [Code.UNKNOWN_COLUMN] == codes(assert_as_if_cold(shop))


def test_a_model_that_shadows_a_source_is_read_instead_of_it(shop):
    write(shop, {"models/new.sql": "SELECT 1 AS id", "models/new.toml": (
        '[target]\nschema = "raw"\ntable = "orders"\n'
    )})  # fmt: skip
    compilation = assert_as_if_cold(shop)

    assert ("new",) == compilation.upstream["orders"]
    assert Code.UNKNOWN_COLUMN in codes(compilation)


def test_without_a_removed_model_its_readers_have_an_unknown_table(shop):
    (shop / "models/notes.sql").unlink()
    compilation = assert_as_if_cold(shop)

    assert [Code.UNKNOWN_TABLE] == codes(compilation)
    assert {"orders", "totals", "report"} == set(compilation.models)


def test_a_model_that_comes_back_is_found_again(shop):
    text = (shop / "models/notes.sql").read_text()
    (shop / "models/notes.sql").unlink()
    compiled(shop)
    (shop / "models/notes.sql").write_text(text)

    assert [] == codes(assert_as_if_cold(shop))


def test_a_did_you_mean_follows_the_names_there_are(shop):
    edit(shop, "models/report.sql", "notes AS n", "memos AS n")
    assert_as_if_cold(shop)
    write(shop, {"models/memo.sql": "SELECT id, note FROM orders"})
    (finding,) = assert_as_if_cold(shop).diagnostics

    assert "memo" in str(finding.help)


def test_a_name_in_another_case_is_shown_in_that_case(shop):
    (shop / "models/totals.sql").rename(shop / "models/Totals.sql")
    compilation = assert_as_if_cold(shop)

    assert ("Totals", "notes") == compilation.upstream["report"]


def test_a_cycle_is_reported_the_same_warm_and_cold(shop):
    edit(shop, "models/orders.sql", "raw.orders", "notes")
    edit(shop, "models/orders.sql", "amount, note", "1.5 AS amount, note")
    first = assert_as_if_cold(shop)
    again = assert_as_if_cold(shop)

    assert Code.DEPENDENCY_CYCLE in codes(first)
    assert answers(first) == answers(again)
    edit(shop, "models/orders.sql", "notes", "raw.orders")
    assert [] == codes(assert_as_if_cold(shop))


def test_a_blocked_model_and_its_repair_reach_the_readers(shop):
    text = (shop / "models/notes.sql").read_text()
    (shop / "models/notes.sql").write_bytes(b"SELECT \xff")
    assert {"orders", "totals", "report"} == set(assert_as_if_cold(shop).models)
    (shop / "models/notes.sql").write_text(text)

    assert [] == codes(assert_as_if_cold(shop))


def test_findings_come_back_from_the_cache_at_their_place(shop):
    edit(shop, "models/notes.sql", "o.note", "o.nota")
    cold = compiled(shop)
    warm = compiled(shop)

    assert [Code.UNKNOWN_COLUMN] == codes(cold)
    assert 0 == warm.statistics.bound
    assert cold.diagnostics == warm.diagnostics


# ------------------------------------------------------------------ the file


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[: len(data) // 2],
        lambda data: data[:-1] + bytes([data[-1] ^ 1]),
        lambda data: data[:60] + b"\0" + data[61:],
        lambda data: b"rocky-cache-1\n" + data[14:],
        lambda data: b"\xff" * 4096,
    ],
    ids=["empty", "cut", "last byte", "other compiler", "other version", "noise"],
)
def test_a_cache_that_is_not_whole_and_ours_is_no_cache(shop, damage):
    cache_file(shop).write_bytes(damage(cache_file(shop).read_bytes()))

    assert 4 == assert_as_if_cold(shop).statistics.bound
    assert 0 == compiled(shop).statistics.bound


def test_a_folder_in_place_of_the_cache_is_no_cache(shop):
    cache_file(shop).unlink()
    cache_file(shop).mkdir()

    assert 4 == assert_as_if_cold(shop).statistics.bound


def test_a_cache_that_cannot_be_written_only_costs_time(tmp_path, monkeypatch):
    write(tmp_path, SHOP)
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path.parent / tmp_path.name / "file"))

    assert [4, 4] == [compiled(tmp_path).statistics.bound for _ in range(2)]


def test_a_project_that_is_read_only_is_compiled_warm(tmp_path):
    write(tmp_path, SHOP)
    tmp_path.chmod(0o555)
    try:
        assert [4, 0] == [compiled(tmp_path).statistics.bound for _ in range(2)]
    finally:
        tmp_path.chmod(0o755)
    assert not (tmp_path / ".rocky").exists()


def test_without_the_cache_nothing_is_read_or_written(tmp_path):
    write(tmp_path, SHOP)
    compilation = compiled(tmp_path, cache=False)
    fingerprints_of(compilation, compilation.models)

    assert not cache_file(tmp_path).parent.exists()
    compiled(tmp_path)
    assert 4 == compiled(tmp_path, cache=False).statistics.bound


@pytest.mark.slow
def test_two_compiles_at_once_leave_a_whole_cache(tmp_path):
    write(tmp_path, SHOP)
    running = [start(COMPILE, str(tmp_path)) for _ in range(3)]
    for process in running:
        assert "" == process.communicate()[0]

    assert [0, 0, 0] == [process.returncode for process in running]
    assert 0 == assert_as_if_cold(tmp_path).statistics.bound
    assert {RECORDS, NAMES} == {path.name for path in cache_file(tmp_path).parent.iterdir()}


@pytest.mark.slow
def test_a_compile_killed_while_it_saves_leaves_the_cache_before_it(shop):
    edit(shop, "models/orders.sql", "id > 0", "id > 1")
    # The process dies between writing the new file and putting it in place.
    killed = start(
        "import os, pathlib\npathlib.Path.replace = lambda *_: os.kill(os.getpid(), 9)\n" + COMPILE,
        str(shop),
    )

    killed.communicate()
    assert -signal.SIGKILL == killed.returncode
    assert 1 == assert_as_if_cold(shop).statistics.bound


def test_what_a_killed_process_left_behind_is_removed_in_time(shop):
    folder = cache_file(shop).parent
    old, new = folder / f"{RECORDS}-old.tmp", folder / f"{RECORDS}-new.tmp"
    old.touch()
    new.touch()
    hour_ago = time.time() - 3700
    os.utime(old, (hour_ago, hour_ago))
    edit(shop, "models/orders.sql", "id > 0", "id > 1")
    compiled(shop)

    assert {RECORDS, NAMES, new.name} == {path.name for path in folder.iterdir()}


@pytest.mark.parametrize("command", ["compile", "ci"])
def test_a_command_with_nothing_to_bind_loads_neither_binder_nor_parser(shop, command):
    lines = (
        "import atexit, os, runpy, sys",
        "atexit.register(lambda: print(*sys.modules))",
        "os.chdir(sys.argv[1])",
        f"sys.argv = ['rocky', {command!r}]",
        "runpy.run_module('rocky.cli', run_name='__main__')",
    )
    process = start("; ".join(lines), str(shop))
    loaded = process.communicate()[0].split()

    assert "rocky.compiler.passes" in loaded
    assert [] == [
        each
        for each in loaded
        if each.startswith(("rocky.language.binder", "rocky.language.syntax", "sqlglot"))
    ]


def test_a_compile_with_nothing_to_bind_loads_neither_binder_nor_parser(shop):
    process = start(f"{COMPILE}; print(*sys.modules)", str(shop))
    loaded = process.communicate()[0].split()

    assert "rocky.compiler.passes" in loaded
    assert [] == [
        each
        for each in loaded
        if each.startswith(("rocky.language.binder", "rocky.language.syntax", "sqlglot"))
    ]


# ------------------------------------------------------------------ fingerprints


def test_remembered_fingerprints_are_those_that_are_computed(shop):
    first = fingerprints_of(compiled(shop), SHOP_MODELS)
    again = compiled(shop)

    assert cache_file(shop).with_name(FINGERPRINTS).is_file()
    assert first == fingerprints_of(again, SHOP_MODELS)
    uncached = compiled(shop, cache=False)
    assert fingerprints_of(uncached, SHOP_MODELS) == first


def test_remembered_fingerprints_follow_an_edit(shop):
    first = fingerprints_of(compiled(shop), SHOP_MODELS)
    edit(shop, "models/totals.sql", "SELECT", "-- totals\nSELECT")
    write(shop, {"models/notes.toml": 'strategy = "view"\n'})
    again = compiled(shop)
    changed = fingerprints_of(again, ["totals", "notes"]) | fingerprints_of(again, ["orders"])

    assert first["totals"].recipe != changed["totals"].recipe
    assert first["totals"].skip_hash == changed["totals"].skip_hash
    assert first["notes"].skip_hash != changed["notes"].skip_hash
    assert first["orders"] == changed["orders"]

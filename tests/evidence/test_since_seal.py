"""After a sealed entry: what somebody alters before it is found, but for rows that nothing rests on.

Of those the report says how many there are, and a verification without a point finds them.
"""

import json
import shutil
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from rocky.canonical import record_json, text_hash
from rocky.evidence.retention.ledger_facts import leave_anchors
from rocky.evidence.retention.sweep import sweep_ledger
from rocky.evidence.scope import Point, VerificationScope
from rocky.ledger import open_ledger
from rocky.ledger.chain import GENESIS, value_hash
from rocky.project.configuration.blocks import StateRetention
from rocky.store.warehouse import open_warehouse
from tests.evidence.shops import STATE, codes, verify
from tests.run.long_histories import LongHistory
from tests.run.runs import Shop

pytestmark = pytest.mark.slow

BUILT, IDLE, NEW = "first build", "an idle run", "a new run"


@pytest.fixture(scope="module")
def past(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A shop with one build and forty runs that found all as it was; the last is after the seal."""
    root = tmp_path_factory.mktemp("past")
    history = LongHistory(root, builds=1)
    history.grow(40)
    history.idle()
    return root


@pytest.fixture
def root(past: Path) -> Iterator[Path]:
    """The same, to be altered: the warehouse stays where it was."""
    kept = {path: path.read_bytes() for path in (past / "warehouse/_rocky").iterdir()}
    state = (past / STATE).read_bytes()
    yield past
    for path in past.glob(f"{STATE}*"):
        if path.is_file():
            path.unlink()
    (past / STATE).write_bytes(state)
    shutil.rmtree(past / "warehouse/_rocky")
    (past / "warehouse/_rocky").mkdir()
    for path, data in kept.items():
        path.write_bytes(data)


@contextmanager
def opened(root: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(root / STATE)) as file, file:
        yield file


def runs_of(file: sqlite3.Connection) -> dict[str, str]:
    """The run that built what all others reuse, one of those, and the newest."""
    keys = [key for (key,) in file.execute("SELECT key FROM run_history ORDER BY key")]
    (built,) = file.execute("SELECT max(key) FROM input_provenance").fetchone()
    return {BUILT: built.partition("|")[0], IDLE: keys[20], NEW: keys[-1]}


def sealed(root: Path) -> VerificationScope:
    """After the last run but one, as a seal has it."""
    with opened(root) as file:
        newest = runs_of(file)[NEW]
        (first,) = file.execute(
            "SELECT min(key) FROM evidence_chain WHERE value ->> 'key' = ?", (newest,)
        ).fetchone()
        seq = int(first) - 1
        (digest,) = file.execute(
            "SELECT value ->> 'entry_hash' FROM evidence_chain WHERE key = ?", (f"{seq:012d}",)
        ).fetchone()
    return VerificationScope(since=Point(seq, digest))


def unsealed(scope: VerificationScope) -> VerificationScope:
    assert scope.since is not None
    return VerificationScope(since=Point(scope.since.seq))


def alter(file: sqlite3.Connection, table: str, key: str) -> None:
    changed = file.execute(
        f"UPDATE {table} SET value = json_set(value, '$.altered', 1) WHERE key = ("
        f" SELECT min(key) FROM {table} WHERE key >= ?)",
        (key,),
    )
    assert 1 == changed.rowcount


def test_nothing_is_found_and_what_was_not_looked_at_is_counted(root):
    whole, late = verify(root), verify(root, sealed(root))

    assert ((), (), True) == (whole.findings, late.findings, late.passed)
    # Every entry is hashed; of the rows only those that others rest on, or that are new.
    assert whole.checked["entries"] == late.checked["entries"]
    assert whole.checked["records"] > 2 * late.checked["records"]
    assert (1, 40) == (late.checked["runs"], late.checked["earlier_runs"])
    assert 40 > late.checked["unseen_runs"] > 30
    assert whole.head == late.head


def test_runs_that_were_forgotten_since_are_no_finding_and_one_that_comes_back_is(root):
    scope = sealed(root)
    with opened(root) as file:
        idle = runs_of(file)[IDLE]
        row = file.execute("SELECT * FROM run_history WHERE key = ?", (idle,)).fetchone()
    with open_ledger(root / STATE) as ledger:
        rules = StateRetention(max_age_days=30, min_runs_kept=3)
        assert idle in sweep_ledger(ledger, [], rules, datetime(2028, 1, 1, tzinfo=UTC)).runs
        leave_anchors(ledger, lambda _: open_warehouse("warehouse", base=root), datetime.now(UTC))
    found = verify(root, scope)
    assert ((), True) == (found.findings, found.passed)

    with opened(root) as file:
        file.execute("INSERT INTO run_history VALUES (?, ?)", row)
    assert "record_unchained" in codes(verify(root, scope).findings)


@pytest.mark.parametrize("table", ["run_history", "model_executions", "output_artifacts"])
def test_a_row_of_a_run_that_nothing_rests_on_is_left_to_a_whole_verification(root, table):
    scope = sealed(root)
    with opened(root) as file:
        alter(file, table, runs_of(file)[IDLE])

    found = verify(root, scope)
    assert ([], True) == (codes(found.findings), found.passed)
    # Nobody has kept the chain of these: what is not looked at now could be made good until later.
    for every in (verify(root), verify(root, unsealed(scope))):
        assert "record_changed" in codes(every.findings)
        assert not every.passed


@pytest.mark.parametrize("whose", [BUILT, NEW])
@pytest.mark.parametrize(
    "table",
    ["run_history", "model_executions", "output_artifacts", "input_provenance", "input_index"],
)
def test_a_row_that_a_later_run_rests_on_is_found(root, table, whose):
    scope = sealed(root)
    with opened(root) as file:
        runs = runs_of(file)
        if not table.startswith("input_"):
            alter(file, table, runs[whose])
        else:
            # It built nothing, and what it reused is found by the same rows.
            alter(file, table, "" if table == "input_index" else runs[BUILT])

    for scoped in (scope, unsealed(scope)):
        found = verify(root, scoped)
        assert "record_changed" in codes(found.findings)
        # All of it was looked at before anything was said of it.
        assert not found.passed


@pytest.mark.parametrize("table", ["input_index", "input_provenance", "model_executions"])
def test_a_row_that_a_later_run_rests_on_and_that_is_gone_is_found(root, table):
    scope = sealed(root)
    with opened(root) as file:
        built = runs_of(file)[BUILT]
        last = "" if table == "input_index" else built
        file.execute(
            f"DELETE FROM {table} WHERE key = (SELECT min(key) FROM {table} WHERE key >= ?)",
            (last,),
        )

    for scoped in (scope, unsealed(scope)):
        assert "record_missing" in codes(verify(root, scoped).findings)


def rows_of_chain(file: sqlite3.Connection) -> list[tuple[str, str]]:
    return file.execute("SELECT key, value FROM evidence_chain ORDER BY key").fetchall()


def test_an_entry_that_was_removed_or_altered_long_ago_is_found(root):
    scope = sealed(root)
    with opened(root) as file:
        key, _ = rows_of_chain(file)[100]
        file.execute("DELETE FROM evidence_chain WHERE key = ?", (key,))

    for scoped in (scope, unsealed(scope)):
        assert ["chain_broken"] == [
            code for code in codes(verify(root, scoped).findings) if code == "chain_broken"
        ]


@pytest.mark.parametrize("what", ["spelling", "name", "hash", "seq", "key", "order"])
def test_an_entry_that_says_the_same_otherwise_is_found(root, what):
    """Of a run that nothing rests on: that its entries are as they were is still promised."""
    scope = sealed(root)
    with opened(root) as file:
        key, text = entry_of(file, runs_of(file)[IDLE])
        # What stands before the hash, and the hash itself, are not under it.
        if what == "spelling":
            text = text.replace('{"entry_hash"', '{ "entry_hash"', 1)
        elif what == "name":
            text = text.replace('{"entry_hash"', '{"entry_hask"', 1)
        elif what == "hash":
            text = text.replace(json.loads(text)["entry_hash"], "0" * 64)
        elif what == "seq":
            text = text.replace(f'"seq":{int(key)}', f'"seq":{int(key) + 1}')
        file.execute("UPDATE evidence_chain SET value = ? WHERE key = ?", (text, key))
        if what in ("key", "order"):
            now = f"{key}a" if what == "order" else f"0{key}"
            file.execute("UPDATE evidence_chain SET key = ? WHERE key = ?", (now, key))

    for scoped in (scope, unsealed(scope)):
        assert "chain_broken" in codes(verify(root, scoped).findings)


def entry_of(file: sqlite3.Connection, run_id: str) -> tuple[str, str]:
    return file.execute(
        "SELECT key, value FROM evidence_chain WHERE value ->> 'key' LIKE ? ORDER BY key DESC",
        (f"{run_id}|%",),
    ).fetchone()


def alter_with_entry(file: sqlite3.Connection, said: dict[str, Any]) -> None:
    """Alter the row that an entry is about, and have the entry say so."""
    alter(file, said["table"], said["key"])
    found = file.execute(f"SELECT value FROM {said['table']} WHERE key = ?", (said["key"],))
    said["value_hash"] = value_hash(found.fetchone()[0])


def test_an_entry_that_was_made_to_fit_an_altered_row_is_found(root):
    """Its own hash fits as well, and only the next entry has another."""
    scope = sealed(root)
    with opened(root) as file:
        key, text = entry_of(file, runs_of(file)[IDLE])
        said = json.loads(text)
        alter_with_entry(file, said)
        del said["entry_hash"]
        said["entry_hash"] = text_hash(record_json(said))
        put = "UPDATE evidence_chain SET value = ? WHERE key = ?"
        file.execute(put, (record_json(said), key))

    for scoped in (scope, unsealed(scope)):
        assert "chain_broken" in codes(verify(root, scoped).findings)


def test_a_chain_that_fits_up_to_another_hash_than_the_sealed_one_is_found(root):
    """All entries up to the seal are made anew, and those after it still name the sealed hash."""
    scope = sealed(root)
    assert scope.since is not None
    with opened(root) as file:
        rows = rows_of_chain(file)
        key, _ = entry_of(file, runs_of(file)[IDLE])
        said = [json.loads(text) for _, text in rows[: scope.since.seq]]
        alter_with_entry(file, said[int(key) - 1])
        write_chain(file, said)
        later = rows[scope.since.seq :]
        file.executemany("INSERT INTO evidence_chain VALUES (?, ?)", later)

    found = verify(root, scope)
    assert "chain_broken" in codes(found.findings)
    assert (None, False) == (found.since, found.passed)


@pytest.mark.parametrize("whose", [IDLE, BUILT, NEW])
def test_an_entry_that_was_put_on_top_for_an_altered_row_is_found(root, whose):
    """The chain fits, and the anchor has its end: no run can have written the entry there."""
    scope = sealed(root)
    with opened(root) as file:
        rows = rows_of_chain(file)
        again = json.loads(entry_of(file, runs_of(file)[whose])[1])
        alter_with_entry(file, again)
        seq, head = write_chain(file, [*(json.loads(text) for _, text in rows), again])
    write_anchor(root, seq=seq, head=head)

    for scoped in (scope, unsealed(scope)):
        assert {"chain_broken", "record_changed"} & set(codes(verify(root, scoped).findings))


def write_chain(file: sqlite3.Connection, said: Iterable[dict[str, Any]]) -> tuple[int, str]:
    """Entries that say these things, each with the hash of the one before; where they end."""
    number, head = 0, GENESIS
    file.execute("DELETE FROM evidence_chain")
    for number, each in enumerate(said, 1):
        document = {**each, "seq": number, "previous": head}
        del document["entry_hash"]
        head = text_hash(record_json(document))
        text = record_json({**document, "entry_hash": head})
        file.execute("INSERT INTO evidence_chain VALUES (?, ?)", (f"{number:012d}", text))
    return number, head


def write_anchor(root: Path, **said: object) -> None:
    (path,) = (root / "warehouse/_rocky").glob("*.json")
    document = json.loads(path.read_text()) | said
    path.write_text(json.dumps(document, sort_keys=True, separators=(",", ":")))


def test_a_chain_that_was_made_anew_from_the_middle_on_is_not_the_sealed_one(root):
    scope = sealed(root)
    with opened(root) as file:
        said = [json.loads(text) for _, text in rows_of_chain(file)]
        seq, head = write_chain(file, said[:100] + said[101:])
    write_anchor(root, seq=seq, head=head)

    found = verify(root, scope)
    assert (None, False) == (found.since, found.passed)
    assert {"head_unknown", "record_unchained"} & set(codes(found.findings))


def test_a_reuse_that_its_build_does_not_explain_is_found_though_everything_fits(root):
    """Somebody writes the newest run's records, the chain after the seal and the anchor."""
    scope = sealed(root)
    with opened(root) as file:
        runs = runs_of(file)
        (key,) = file.execute(
            "SELECT min(key) FROM model_executions WHERE key LIKE ?"
            " AND value ->> 'reused_from' IS NOT NULL",
            (f"{runs[NEW]}|%",),
        ).fetchone()
        for path, table, row in (
            ("$.reused_from", "model_executions", key),
            ("$.models_executed[0].reused_from", "run_history", runs[NEW]),
        ):
            file.execute(
                f"UPDATE {table} SET value = json_set(value, ?, ?) WHERE key = ?",
                (path, runs[IDLE], row),
            )
        said = [json.loads(text) for _, text in rows_of_chain(file)]
        newest = {(each["table"], each["key"]): each for each in said}
        for table, row in (("model_executions", key), ("run_history", runs[NEW])):
            found = file.execute(f"SELECT value FROM {table} WHERE key = ?", (row,))
            newest[table, row]["value_hash"] = value_hash(found.fetchone()[0])
        seq, head = write_chain(file, said)
    write_anchor(root, seq=seq, head=head)

    for scoped in (scope, unsealed(scope)):
        assert ["record_inconsistent"] == codes(verify(root, scoped).findings)


def test_rows_that_were_put_in_for_runs_after_the_seal_are_found(root):
    scope = sealed(root)
    with opened(root) as file:
        newest = runs_of(file)[NEW]
        file.execute(
            "INSERT INTO model_executions SELECT 'run-29991231-000000-000|alone', value"
            " FROM model_executions WHERE key LIKE ? LIMIT 1",
            (f"{newest}|%",),
        )

    for scoped in (scope, unsealed(scope)):
        assert "record_unchained" in codes(verify(root, scoped).findings)


def test_a_build_that_was_put_in_for_an_earlier_run_is_found(root):
    scope = sealed(root)
    with opened(root) as file:
        runs = runs_of(file)
        file.execute(
            "INSERT OR REPLACE INTO input_provenance SELECT replace(key, ?, ?), value"
            " FROM input_provenance WHERE key LIKE ? LIMIT 1",
            (runs[BUILT], runs[IDLE], f"{runs[BUILT]}|%"),
        )

    for scoped in (scope, unsealed(scope)):
        assert "record_unchained" in codes(verify(root, scoped).findings)


def test_an_anchor_from_before_the_seal_is_found(root):
    scope = sealed(root)
    with opened(root) as file:
        key, text = rows_of_chain(file)[100]
        idle = runs_of(file)[IDLE]
    write_anchor(root, seq=int(key), head=json.loads(text)["entry_hash"], run_id=idle)

    for scoped in (scope, unsealed(scope)):
        assert {"anchor_behind", "head_unknown"} & set(codes(verify(root, scoped).findings))


def test_an_anchor_that_names_an_earlier_run_is_found(root):
    scope = sealed(root)
    with opened(root) as file:
        idle = runs_of(file)[IDLE]
        found = file.execute(
            "SELECT value ->> 'finished_at' FROM run_history WHERE key = ?", (idle,)
        )
        write_anchor(root, run_id=idle, recorded_at=found.fetchone()[0])

    for scoped in (scope, unsealed(scope)):
        assert ["head_unknown"] == codes(verify(root, scoped).findings)


@pytest.mark.parametrize("key", ["CAST('x' AS BLOB)", "'zzz'"])
def test_a_row_whose_key_is_not_one_of_a_run_is_found(root, key):
    scope = sealed(root)
    with opened(root) as file:
        file.execute(f"INSERT INTO run_history SELECT {key}, value FROM run_history LIMIT 1")

    for scoped in (scope, unsealed(scope)):
        assert "record_unchained" in codes(verify(root, scoped).findings)


@pytest.mark.parametrize("key", ["run-2999", "run-2000", "a", "zzz"])
def test_a_row_that_others_rest_on_whose_key_is_not_utf_8_is_found(root, key):
    scope = sealed(root)
    with opened(root) as file:
        file.execute(
            "INSERT INTO run_history SELECT CAST(? AS TEXT), json_set(value, '$.status', 'Running')"
            " FROM run_history LIMIT 1",
            (key.encode() + b"\xff",),
        )

    for scoped in (scope, unsealed(scope)):
        assert "record_unchained" in codes(verify(root, scoped).findings)


@pytest.mark.parametrize("table", ["run_history", "input_index"])
def test_a_row_with_an_empty_key_is_found(root, table):
    scope = sealed(root)
    with opened(root) as file:
        file.execute(f"INSERT INTO {table} SELECT '', value FROM {table} LIMIT 1")

    assert "record_unchained" in codes(verify(root).findings)
    assert "record_unchained" in codes(verify(root, unsealed(scope)).findings)
    # The row of no run; a key of no run in a table of runs is that of an earlier one.
    assert ("input_index" == table) == bool(verify(root, scope).findings)


@pytest.mark.parametrize("table", ["run_history", "model_executions", "output_artifacts"])
def test_the_run_whose_look_a_later_one_goes_by_is_read_back(tmp_path, table):
    shop = Shop(tmp_path)
    shop.run()
    looked = shop.run().run_id
    shop.run()
    head = verify(tmp_path).head
    late = shop.run().run_id
    scope = VerificationScope(since=Point(*head))
    with opened(tmp_path) as file:
        row = file.execute("SELECT value FROM run_history WHERE key = ?", (late,)).fetchone()
        assert looked == json.loads(row[0])["unchanged_since"]
    assert ((), True) == (verify(tmp_path, scope).findings, verify(tmp_path, scope).passed)
    with opened(tmp_path) as file:
        alter(file, table, looked)

    assert "record_changed" in codes(verify(tmp_path, scope).findings)

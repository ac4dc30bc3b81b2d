"""What others wrote, made wrong in every way: read right or refused as unreadable, nothing else."""

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rocky.branches.approvals.statements import Kind, NotAStatement, Statement, parse_statement
from rocky.branches.state_hash import hash_state
from rocky.errors import RockyError
from rocky.evidence.verification import verify_evidence
from rocky.language.binder.query import bind_text
from rocky.language.datatypes.text import parse_schema
from rocky.language.tables import tables_by_name
from rocky.ledger import open_evidence_reader, open_ledger
from rocky.ledger.chain import MalformedEntry, parse_entry
from rocky.ledger.run_records import RunStatus
from rocky.ledger.schema import TABLES
from rocky.ledger.writer import ModelRecords
from rocky.project import load_project
from rocky.project.interfaces import content_hash
from rocky.project.toml.documents import parse_document
from rocky.store.anchor import Anchor, _format_anchor, anchor_path, read_anchor
from rocky.store.delta.log import Log, write_checkpoint
from rocky.store.file_usage import read_lifetimes
from rocky.store.journal import (
    JOURNAL_FOLDER,
    Journal,
    JournalledTable,
    load_journals,
    write_journal,
)
from rocky.store.warehouse import Table, open_warehouse
from tests.corpus.questions import questions, shop_tables
from tests.fuzz.mutation import cases, seeds
from tests.ledger.conftest import START, a_model, a_run
from tests.project.projects import load
from tests.project.test_config import FULL
from tests.project.test_robustness import CONTRACT, DEFAULTS, SEED, SIDECAR, SOURCE, document
from tests.store.tables import append, ids, log_file, reopened, table_in

pytestmark = pytest.mark.slow

Target = tuple[list[bytes], Callable[[bytes], object]]
LEDGER_ID = "0" * 32


def sql(_: Path) -> Target:
    """Queries over tables of every type: one over a table that is not there ends at its name."""
    tables = tables_by_name(
        {name: parse_schema(columns) for name, columns in shop_tables().items()}
    )
    known = [*seeds("sql"), *(each.sql.encode() for each in questions())]
    return known, lambda data: bind_text(data.decode(errors="replace"), tables)


def toml(_: Path) -> Target:
    def read(data: bytes) -> None:
        parse_document("x.toml", data.decode(errors="replace"), {}, lambda _: None)

    return seeds("toml"), read


def project(folder: Path) -> Target:
    """The files of a project, each of its kind, as loading reads them."""
    empty = {"interface_version": 1, "project": "crm", "tables": []}
    crm = json.dumps({**empty, "interface_hash": content_hash(empty)})
    written = {
        "rocky.toml": FULL,
        "models/m.toml": document(SIDECAR),
        "models/_defaults.toml": document(DEFAULTS),
        "sources/s.toml": document(SOURCE),
        "seeds/s.toml": document(SEED),
        "seeds/s.csv": 'a,b\n1,"x\ny"\n',
        "contracts/m.contract.toml": document(CONTRACT),
        "models/m.sql": "---toml\nname = 'm'\n---\nSELECT 1 AS a, @var(x) AS b",
        "crm.json": crm,
        "crm.accepted.json": crm,
    }
    load(folder, dict(written))

    def read(data: bytes) -> None:
        name, good = list(written.items())[len(data) % len(written)]
        (folder / name).write_bytes(data)
        load_project(folder, env={})
        (folder / name).write_text(good)

    return [each.encode() for each in written.values()] + seeds("toml"), read


def delta_commit(folder: Path) -> Target:
    table = table_in(folder)
    for number in range(3):
        append(table, ids(table, number))
    files = [log_file(table, f"{version:020d}.json") for version in range(3)]
    first = files[0].read_bytes()

    def read(data: bytes) -> None:
        for place, good in ((files[2], b""), (files[0], first)):
            place.write_bytes(data)
            for ask in (lambda log: log.snapshot(), lambda log: log.history()):
                with suppress(RockyError):
                    ask(reopened(table).log)
            if good:
                place.write_bytes(good)

    return [file.read_bytes() for file in files] + seeds("delta") + seeds("json"), read


def vouched(table: Table) -> Log:
    """A log whose checkpoints are read."""
    return replace(reopened(table).log, vouch=lambda *_: True)


def delta_checkpoint(folder: Path) -> Target:
    table = table_in(folder)
    for number in range(3):
        append(table, ids(table, number))
    assert write_checkpoint(table.log, 2) is None
    file = log_file(table, f"{2:020d}.checkpoint.parquet")

    def read(data: bytes) -> None:
        file.write_bytes(data)
        vouched(table).snapshot()

    return [file.read_bytes()], read


def checkpoint_rows(folder: Path) -> Target:
    """A checkpoint that is whole Parquet of the right columns, with other values in it."""
    table = table_in(folder)
    for number in range(3):
        append(table, ids(table, number))
    assert write_checkpoint(table.log, 2) is None
    file = log_file(table, f"{2:020d}.checkpoint.parquet")
    good = pq.read_table(file)

    def read(data: bytes) -> None:
        try:
            made = pa.Table.from_pylist(json.loads(data), schema=good.schema)
            pq.write_table(made, file)
        except (
            ValueError,
            TypeError,
            AttributeError,
            OverflowError,
            RecursionError,
            pa.ArrowException,
        ):
            return
        vouched(table).snapshot()
        read_lifetimes(vouched(table))

    return [json.dumps(good.to_pylist(maps_as_pydicts="strict")).encode()], read


def last_checkpoint(folder: Path) -> Target:
    table = table_in(folder)
    append(table, ids(table, 1))
    file = log_file(table, "_last_checkpoint")

    def read(data: bytes) -> None:
        file.write_bytes(data)
        found = reopened(table).log.snapshot()
        # It is a hint: whatever it says, the table is there.
        assert found is not None

    return [b'{"version":0,"size":4}', *seeds("json")], read


def journal(folder: Path) -> Target:
    warehouse = open_warehouse("warehouse", base=folder)
    moved = JournalledTable("a.b.c", "a/b/c", 1, "{}", 0)
    write_journal(warehouse, Journal("run-1", LEDGER_ID, {"a": 1}, (moved,), {"a.b.c": {}}))
    place = f"{JOURNAL_FOLDER}/run-1.json"
    known = warehouse.objects.read(place)
    file = warehouse.objects.local_path(place)
    assert known is not None
    assert file is not None

    def read(data: bytes) -> None:
        file.write_bytes(data)
        load_journals(warehouse)

    return [known, *seeds("json")], read


def anchor(folder: Path) -> Target:
    warehouse = open_warehouse("warehouse", base=folder)
    file = warehouse.objects.local_path(anchor_path(LEDGER_ID))
    assert file is not None
    file.parent.mkdir(parents=True)

    def read(data: bytes) -> None:
        file.write_bytes(data)
        read_anchor(warehouse, LEDGER_ID)

    return [_format_anchor(Anchor("0" * 64, 3, "run-1", START)), *seeds("json")], read


def approval(_: Path) -> Target:
    state = {"tables": {"a": 1}}
    now = datetime(2026, 1, 1, tzinfo=UTC)
    said = Statement(Kind.APPROVAL, "b", now, hash_state(state), state, "a@example.com", now)

    def read(data: bytes) -> None:
        with suppress(NotAStatement):
            parse_statement(data.decode(errors="replace"))

    return [said.text.encode(), *seeds("json")], read


def ledger_entry(_: Path) -> Target:
    fields = {"seq": 1, "table": "runs", "key": "a", "previous": "0" * 64, "value_hash": "0" * 64}

    def read(data: bytes) -> None:
        with suppress(MalformedEntry):
            parse_entry(data.decode(errors="replace"))

    return [json.dumps(fields).encode(), *seeds("json")], read


def ledger_rows(folder: Path) -> Target:
    path = folder / "state.db"
    with open_ledger(path) as ledger:
        run_id = ledger.begin_run(a_run(), ["m.s.t"])
        ledger.record_models(run_id, [ModelRecords(a_model())])
        ledger.finish_run(run_id, RunStatus.SUCCESS, START)
    with closing(sqlite3.connect(path)) as connection:
        stored = [
            (table, key, value)
            for table in TABLES
            for key, value in connection.execute(f"SELECT key, value FROM {table}")
        ]

    def read(data: bytes) -> None:
        table, key, value = stored[len(data) % len(stored)]
        try:
            put(path, table, key, data.decode(errors="replace"))
        except sqlite3.Error:
            # An index over the JSON takes no text that is none.
            return
        try:
            ask(path)
        finally:
            put(path, table, key, value)

    return [str(value).encode() for _, _, value in stored] + seeds("json"), read


def put(path: Path, table: str, key: str, value: object) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        # Who writes rows by hand is not held by the constraints either.
        connection.execute("PRAGMA ignore_check_constraints = ON")
        connection.execute(f"UPDATE {table} SET value = ? WHERE key = ?", (value, key))


def ask(path: Path) -> None:
    questions: Iterator[Callable[..., object]] = iter(
        (
            lambda reader: reader.runs(),
            lambda reader: reader.totals(),
            lambda reader: reader.executions("fct_revenue"),
            lambda reader: reader.artifacts("x"),
            lambda reader: reader.watermarks(),
        )
    )
    with open_ledger(path) as ledger:
        for question in questions:
            with suppress(RockyError), ledger.reader() as reader:
                question(reader)
    evidence = open_evidence_reader(path)
    assert evidence is not None
    with suppress(RockyError), evidence:
        verify_evidence(evidence, lambda place: open_warehouse(place, base=path.parent))


TARGETS = (
    sql, toml, project, delta_commit, delta_checkpoint, checkpoint_rows, last_checkpoint, journal,
    anchor, approval, ledger_entry, ledger_rows,
)  # fmt: skip


def fuzz(target: Callable[[Path], Target], folder: Path, *, at_length: bool) -> None:
    known, read = target(folder)
    for number, data in cases(known, at_length=at_length):
        try:
            read(data)
        except RockyError:
            continue
        except Exception as failure:
            raise AssertionError(f"case {number} of {target.__name__}: {data[:300]!r}") from failure


@pytest.mark.sampled
@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.__name__)
def test_what_is_stored_wrong_is_refused(tmp_path, target):
    fuzz(target, tmp_path, at_length=False)


@pytest.mark.exhaustive
@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.__name__)
def test_what_is_stored_wrong_is_refused_for_minutes_on_end(tmp_path, target):
    fuzz(target, tmp_path, at_length=True)

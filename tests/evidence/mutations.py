"""Single changes to a recorded project, each as somebody with the disk could make it.

A mutation is a function of the project and a source of chance; it returns what it did, or None when
it happened to change nothing.
"""

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

from rocky.ledger.chain import BEFORE_FIRST, CHAIN_TABLE, CHAINED, Head, format_entry, make_entry
from tests.evidence.shops import Recorded

Mutation = Callable[[Recorded, Random], str | None]


@contextmanager
def opened(project: Recorded) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(project.state)) as connection, connection:
        yield connection


def rows_of(connection: sqlite3.Connection, *tables: str) -> list[tuple[str, str, str]]:
    """Table, key and value of all rows of some tables."""
    return [
        (table, key, value)
        for table in tables
        for key, value in connection.execute(f"SELECT key, value FROM {table} ORDER BY key")
    ]


def put(connection: sqlite3.Connection, table: str, key: str, value: str) -> None:
    connection.execute(f"UPDATE {table} SET value = ? WHERE key = ?", (value, key))


def change_bytes(path: Path, chance: Random) -> str:
    """One byte flipped, put in or taken out, wherever."""
    data = bytearray(path.read_bytes())
    at, how = chance.randrange(len(data)), chance.choice(["flip", "insert", "remove"])
    if how == "flip":
        data[at] ^= 1 << chance.randrange(8)
    elif how == "insert":
        data.insert(at, chance.randrange(256))
    else:
        del data[at]
    path.write_bytes(data)
    return f"{how} byte {at} of {path.name}"


def change_value(value: Any, chance: Random) -> Any:
    """A JSON value with one leaf of it changed."""
    if isinstance(value, dict) and value:
        key = chance.choice(sorted(value))
        if chance.random() < 0.1:
            return {name: each for name, each in value.items() if name != key}
        return {**value, key: change_value(value[key], chance)}
    if isinstance(value, list) and value:
        at = chance.randrange(len(value))
        return [*value[:at], change_value(value[at], chance), *value[at + 1 :]]
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + chance.choice([-1, 1, 1000])
    if isinstance(value, str) and value:
        at = chance.randrange(len(value))
        return value[:at] + chance.choice("0123456789abcdefZ ") + value[at + 1 :]
    return "something"


def compact(document: Any) -> str:
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def byte_of_data_file(project: Recorded, chance: Random) -> str:
    return change_bytes(chance.choice(project.data_files()), chance)


def swapped_data_files(project: Recorded, chance: Random) -> str:
    one, other = chance.sample(project.data_files(), 2)
    first, second = one.read_bytes(), other.read_bytes()
    one.write_bytes(second)
    other.write_bytes(first)
    return f"swapped {one.name} and {other.name}"


def deleted_data_file(project: Recorded, chance: Random) -> str:
    path = chance.choice(project.data_files())
    path.unlink()
    return f"deleted {path.name}"


def truncated_data_file(project: Recorded, chance: Random) -> str:
    path = chance.choice(project.data_files())
    path.write_bytes(path.read_bytes()[: chance.randrange(path.stat().st_size)])
    return f"truncated {path.name}"


def field_of_record(project: Recorded, chance: Random) -> str | None:
    with opened(project) as connection:
        table, key, value = chance.choice(rows_of(connection, *CHAINED))
        changed = compact(change_value(json.loads(value), chance))
        put(connection, table, key, changed)
    return None if changed == value else f"{table} {key}: {changed}"


def white_space_in_record(project: Recorded, chance: Random) -> str:
    with opened(project) as connection:
        table, key, value = chance.choice(rows_of(connection, *CHAINED))
        put(connection, table, key, f"{value} ")
    return f"{table} {key}"


def ledger_id(project: Recorded, chance: Random) -> str:
    changed = json.dumps(chance.choice([f"{chance.getrandbits(128):032x}", "mine", 7, None]))
    with opened(project) as connection:
        put(connection, "metadata", "ledger_id", changed)
    return changed


def deleted_record(project: Recorded, chance: Random) -> str:
    with opened(project) as connection:
        table, key, _ = chance.choice(rows_of(connection, *CHAINED))
        connection.execute(f"DELETE FROM {table} WHERE key = ?", (key,))
    return f"{table} {key}"


def swapped_records(project: Recorded, chance: Random) -> str | None:
    with opened(project) as connection:
        table = chance.choice(["run_history", "model_executions", "output_artifacts"])
        (_, one, first), (_, other, second) = chance.sample(rows_of(connection, table), 2)
        put(connection, table, one, second)
        put(connection, table, other, first)
    return None if first == second else f"{table} {one} and {other}"


def inserted_record(project: Recorded, chance: Random) -> str:
    with opened(project) as connection:
        table, key, value = chance.choice(rows_of(connection, *CHAINED))
        connection.execute(f"INSERT INTO {table} VALUES (?, ?)", (f"{key}0", value))
    return f"{table} {key}0"


def renamed_record(project: Recorded, chance: Random) -> str:
    with opened(project) as connection:
        table, key, _ = chance.choice(rows_of(connection, *CHAINED))
        connection.execute(f"UPDATE {table} SET key = ? WHERE key = ?", (f"{key}0", key))
    return f"{table} {key}"


def emptied_table(project: Recorded, chance: Random) -> str | None:
    with opened(project) as connection:
        table = chance.choice([*CHAINED, CHAIN_TABLE])
        count = connection.execute(f"DELETE FROM {table}").rowcount
    return f"{table}" if count else None


def field_of_entry(project: Recorded, chance: Random) -> str | None:
    with opened(project) as connection:
        table, key, value = chance.choice(rows_of(connection, CHAIN_TABLE))
        changed = compact(change_value(json.loads(value), chance))
        put(connection, table, key, changed)
    return None if changed == value else f"{key}: {changed}"


def deleted_entry(project: Recorded, chance: Random) -> str:
    with opened(project) as connection:
        _, key, _ = chance.choice(rows_of(connection, CHAIN_TABLE))
        connection.execute(f"DELETE FROM {CHAIN_TABLE} WHERE key = ?", (key,))
    return key


def swapped_entries(project: Recorded, chance: Random) -> str:
    with opened(project) as connection:
        (_, one, first), (_, other, second) = chance.sample(rows_of(connection, CHAIN_TABLE), 2)
        put(connection, CHAIN_TABLE, one, second)
        put(connection, CHAIN_TABLE, other, first)
    return f"{one} and {other}"


def append(connection: sqlite3.Connection, table: str, key: str, value: str | None) -> None:
    """An entry at the end that fits in all respects."""
    *_, (_, _, last) = rows_of(connection, CHAIN_TABLE)
    head = Head(json.loads(last)["seq"], json.loads(last)["entry_hash"])
    entry = make_entry(head, table, key, value)
    row = (f"{entry.seq:012d}", format_entry(entry))
    connection.execute(f"INSERT INTO {CHAIN_TABLE} VALUES (?, ?)", row)


def appended_entry(project: Recorded, chance: Random) -> str:
    """A record put in by hand, with an entry that fits."""
    with opened(project) as connection:
        table, key, value = chance.choice(rows_of(connection, *CHAINED))
        connection.execute(f"INSERT INTO {table} VALUES (?, ?)", (f"{key}0", value))
        append(connection, table, f"{key}0", value)
    return f"{table} {key}0"


def rechained(*tables: str) -> Mutation:
    """A record changed, and an entry appended that fits the changed record."""

    def change(project: Recorded, chance: Random) -> str | None:
        with opened(project) as connection:
            table, key, value = chance.choice(rows_of(connection, *tables))
            changed = compact(change_value(json.loads(value), chance))
            put(connection, table, key, changed)
            append(connection, table, key, changed)
        return None if changed == value else f"{table} {key}: {changed}"

    return change


def watermark_with_entry(project: Recorded, chance: Random) -> str:
    """How far a table was loaded, put in by hand with an entry that fits."""
    said = {"last_value": f"{chance.random()}", "table": "a", "updated_at": "2026-01-31T12:00:00Z"}
    with opened(project) as connection:
        connection.execute("INSERT INTO watermarks VALUES (?, ?)", ("a", compact(said)))
        append(connection, "watermarks", "a", compact(said))
    return f"{said}"


def removed_with_entry(project: Recorded, chance: Random) -> str:
    """A record gone, with an entry that says so."""
    with opened(project) as connection:
        table, key, _ = chance.choice(rows_of(connection, *CHAINED))
        connection.execute(f"DELETE FROM {table} WHERE key = ?", (key,))
        append(connection, table, key, None)
    return f"{table} {key}"


def forged_sweep(project: Recorded, chance: Random) -> str:
    """A run gone with all its rows, and a sweep that says so, as Rocky would write it."""
    tables = ("run_history", "model_executions", "output_artifacts", "input_provenance")
    at = "2030-01-01T00:00:00.000000Z"
    with opened(project) as connection:
        run_id = chance.choice([key for _, key, _ in rows_of(connection, "run_history")])
        gone = [
            (table, key)
            for table, key, _ in rows_of(connection, *tables)
            if key.partition("|")[0] == run_id
        ]
        removed = {table: sum(each == table for each, _ in gone) for table, _ in gone}
        said = {"at": at, "cutoff": at, "reason": "old", "removed": removed, "runs": [run_id]}
        connection.execute("INSERT INTO sweeps VALUES (?, ?)", (at, compact(said)))
        append(connection, "sweeps", at, compact(said))
        for table, key in gone:
            connection.execute(f"DELETE FROM {table} WHERE key = ?", (key,))
            append(connection, table, key, None)
    return run_id


def collected_by_hand(project: Recorded, chance: Random) -> str:
    """A data file gone, and a record that a collector took it, with its entry."""
    path = chance.choice(project.data_files())
    at = "2030-01-01T00:00:00.000000Z"
    said = {
        "blake3_hash": path.stem,
        "collected_at": at,
        "file_path": str(path),
        "reason": "old",
        "size_bytes": path.stat().st_size,
        "target": ".".join(path.parts[-4:-1]),
    }
    path.unlink()
    with opened(project) as connection:
        row = (f"{at}|{path}", compact(said))
        connection.execute("INSERT INTO collected_files VALUES (?, ?)", row)
        append(connection, "collected_files", *row)
    return path.name


def forged_history(project: Recorded, chance: Random) -> str | None:
    """A record changed and the whole chain made anew around it: only the tables can tell."""
    with opened(project) as connection:
        table, key, value = chance.choice(rows_of(connection, *CHAINED))
        changed = compact(change_value(json.loads(value), chance))
        put(connection, table, key, changed)
        values = {(row[0], row[1]): row[2] for row in rows_of(connection, *CHAINED, "metadata")}
        entries = [json.loads(text) for _, _, text in rows_of(connection, CHAIN_TABLE)]
        head = BEFORE_FIRST
        for each in entries:
            where = (each["table"], each["key"])
            entry = make_entry(head, *where, values[where])
            put(connection, CHAIN_TABLE, f"{entry.seq:012d}", format_entry(entry))
            head = entry.head
    return None if changed == value else f"{table} {key}"


def truncated_chain(project: Recorded, chance: Random) -> str:
    """The last entries and the rows they are about, gone together."""
    with opened(project) as connection:
        entries = [json.loads(text) for _, _, text in rows_of(connection, CHAIN_TABLE)]
        kept = chance.randrange(1, len(entries))
        for each in entries[kept:]:
            key = (f"{each['seq']:012d}",)
            connection.execute(f"DELETE FROM {CHAIN_TABLE} WHERE key = ?", key)
            connection.execute(f"DELETE FROM {each['table']} WHERE key = ?", (each["key"],))
    return f"{len(entries) - kept} entries"


def older_ledger(project: Recorded, chance: Random) -> str:
    at = chance.randrange(len(project.older))
    project.state.write_bytes(project.older[at])
    return f"as run {at} left it"


def older_ledger_without_anchor(project: Recorded, chance: Random) -> str:
    """Two changes: whoever rolls back and knows of anchors is found by the commits."""
    project.anchor().unlink()
    return older_ledger(project, chance)


def byte_of_commit(project: Recorded, chance: Random) -> str:
    return change_bytes(chance.choice(project.commits()), chance)


def deleted_commit(project: Recorded, chance: Random) -> str:
    path = chance.choice(project.commits())
    path.unlink()
    return str(path)


def swapped_commits(project: Recorded, chance: Random) -> str:
    return swap(*chance.sample(project.commits(), 2))


def swap(one: Path, other: Path) -> str:
    first, second = one.read_bytes(), other.read_bytes()
    one.write_bytes(second)
    other.write_bytes(first)
    return f"{one} and {other}"


def added_commit(project: Recorded, chance: Random) -> str:
    log = chance.choice(sorted({path.parent for path in project.commits()}))
    last = max(log.glob("*.json"))
    path = log / f"{int(last.stem) + 1:020d}.json"
    path.write_bytes(chance.choice([last.read_bytes(), b'{"commitInfo":{"operation":"WRITE"}}\n']))
    return str(path)


def stray_file_in_log(project: Recorded, chance: Random) -> str:
    log = chance.choice(sorted({path.parent for path in project.commits()}))
    names = [
        "00000000000000000000.crc",
        "00000000000000000000.checkpoint.parquet",
        "_commits/x.json",
    ]
    path = log / chance.choice(names)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"x")
    return str(path)


def checkpoint(project: Recorded, chance: Random) -> str:
    (path,) = project.log_files("*.checkpoint.parquet")
    if chance.random() < 0.1:
        path.unlink()
        return "deleted"
    return change_bytes(path, chance)


def checkpoint_hint(project: Recorded, chance: Random) -> str:
    (path,) = project.log_files("_last_checkpoint")
    if chance.random() < 0.2:
        path.unlink()
        return "deleted"
    key = chance.choice(["version", "size", "sizeInBytes", "numOfAddFiles"])
    project.edit_json(path, key, json.loads(path.read_bytes())[key] + chance.choice([-1, 1]))
    return key


def anchor(project: Recorded, chance: Random) -> str:
    path = project.anchor()
    if chance.random() < 0.2:
        path.unlink()
        return "deleted"
    key = chance.choice(["head", "seq", "run_id"])
    project.edit_json(path, key, change_value(json.loads(path.read_bytes())[key], chance))
    return f"{key} {path.read_text()}"


def older_anchor(project: Recorded, chance: Random) -> str:
    at = chance.randrange(len(project.anchors))
    project.anchor().write_bytes(project.anchors[at])
    return f"as run {at} left it"


def anchor_of_another_time(project: Recorded, chance: Random) -> str:
    path = project.anchor()
    at = datetime.fromisoformat(json.loads(path.read_bytes())["recorded_at"])
    other = at + chance.choice([-1, 1]) * timedelta(minutes=chance.randrange(11, 1_000_000))
    project.edit_json(path, "recorded_at", other.strftime("%Y-%m-%dT%H:%M:%S.%fZ"))
    return path.read_text()


def anchor_of_another_run(project: Recorded, chance: Random) -> str:
    path = project.anchor()
    with opened(project) as connection:
        runs = [key for _, key, _ in rows_of(connection, "run_history")]
    project.edit_json(path, "run_id", chance.choice(runs[:-1]))
    return path.read_text()


MUTATIONS: dict[str, Mutation] = {
    each.__name__: each
    for each in (
        byte_of_data_file, swapped_data_files, deleted_data_file, truncated_data_file,
        field_of_record, white_space_in_record, ledger_id, deleted_record, swapped_records,
        inserted_record, renamed_record, emptied_table,
        field_of_entry, deleted_entry, swapped_entries, appended_entry, forged_history,
        truncated_chain, older_ledger, older_ledger_without_anchor,
        byte_of_commit, deleted_commit, swapped_commits, added_commit, stray_file_in_log,
        checkpoint, checkpoint_hint, anchor, older_anchor, anchor_of_another_time,
        anchor_of_another_run, watermark_with_entry, removed_with_entry, collected_by_hand,
        forged_sweep,
    )
} | {
    f"rechained_{table}": rechained(table)
    for table in (
        "run_history", "model_executions", "output_artifacts", "input_provenance", "input_index",
    )
}  # fmt: skip

"""Checks a state file of Rocky against its tables, without Rocky: this file and `blake3` will do.

    python verify_run.py STATE.db [--warehouse FOLDER] [--run RUN_ID] [--table CATALOG.SCHEMA.TABLE]

Prints one line a finding (`code: where: what it means`) and a summary. Exit code: 0 all agrees, 1 findings, 2 the
state file cannot be read. Only folders are looked into: tables in an object store are counted as not checked, unless
`--warehouse` names a local copy.
"""

import argparse
import json
import re
import sqlite3
import sys
from collections import Counter, defaultdict
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path
from urllib.parse import unquote

from blake3 import blake3

# The tables of evidence, and what the key of a row of theirs is made of.
KEYS = {
    "run_history": "{run_id}", "model_executions": "{run}|{model}", "input_provenance": "{run_id}|{model}",
    "output_artifacts": "{run_id}|{model_name}|{file_path}", "input_index": "{input_hash}",
    "collected_files": "{collected_at}|{file_path}", "branches": "{key}", "watermarks": "{key}",
    "check_history": "{key}", "partitions": "{key}", "grace_periods": "{key}", "loaded_files": "{key}",
}
CHAIN, DIED = "evidence_chain", "the process ended without finishing"
SKIP = ("materialization", "normalized_sql", "normalizer_version", "target", "typed_columns")
DAMAGED = (KeyError, TypeError, ValueError, AttributeError, IndexError, StopIteration)


def hash_of(data):
    return blake3(data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data).hexdigest()


def canonical(document):
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text.encode("utf-8", "backslashreplace").decode()


def content_hash(hashes):
    """Of one file its own hash, of several that of their sorted list, one a line."""
    found = sorted(hashes)
    return found[0] if len(found) == 1 else hash_of("".join(f"{each}\n" for each in found))


def varint(stream):
    byte = next(stream)
    return byte if byte < 128 else (byte & 127) | varint(stream) << 7


def thrift(stream, kind):
    """A value of Thrift's compact protocol; a struct is a dict by the numbers of its fields."""
    if kind in (4, 5, 6):
        value = varint(stream)
        return (value >> 1) ^ -(value & 1)
    if kind in (3, 7, 8):
        return bytes(islice(stream, {3: 1, 7: 8}[kind] if kind != 8 else varint(stream)))
    if kind in (9, 10):
        head = next(stream)
        return [thrift(stream, head & 15) for _ in range(varint(stream) if head >> 4 == 15 else head >> 4)]
    found, number = {}, 0
    while kind == 12 and (head := next(stream)):
        number = number + (head >> 4) if head >> 4 else varint(stream) >> 1
        found[number] = thrift(stream, head & 15)
    return found


def footer_rows(data):
    """How many rows a Parquet file has: field 3 of its footer."""
    return thrift(iter(data[-8 - int.from_bytes(data[-8:-4], "little") : -8]), 12)[3]


def load(path):
    """All rows of all tables, values as bytes: it is those that were hashed."""
    # Without a `-wal` nobody writes, and SQLite need not make files of its own beside it.
    mode = "mode=ro" if Path(f"{path}-wal").exists() else "immutable=1"
    with closing(sqlite3.connect(f"{Path(path).resolve().as_uri()}?{mode}", uri=True)) as file:
        file.text_factory = bytes
        file.execute("BEGIN")
        found = {name: file.execute(f"SELECT key, value FROM {name} ORDER BY key") for name in (*KEYS, CHAIN, "metadata")}
        return {name: {key.decode("utf-8", "replace"): value for key, value in rows} for name, rows in found.items()}


class Audit:
    """The checks, each fed by those before it."""

    def __init__(self, rows, warehouse=None, run_id=None, table=None):
        self.rows, self.warehouse, self.run_id, self.table = rows, warehouse, run_id, (table or "").lower()
        self.findings, self.notes, self.count, self.heads, self.ledger_id = {}, {}, Counter(), [], None
        self.records, self.adds, self.states = {name: {} for name in KEYS}, {}, defaultdict(dict)
        self.files_of, self.written_at = defaultdict(dict), {}

    def expect(self, holds, code, where, message):
        if not holds:
            self.findings[f"{code}: {where}: {message}"] = None
        return holds

    @contextmanager
    def reading(self, where):
        try:
            yield
        except DAMAGED as error:
            self.expect(False, "record_malformed", where, f"it is not what it should be ({error!r})")

    def each(self, table, check):
        """Runs a check of (place, run, model or nothing, record) over the records of a table that were asked for."""
        for key, record in self.records[table].items():
            with self.reading(f"{table} {key}"):
                run_id, model = record.get("run_id", key.split("|")[0]), record.get("model_name", "").lower()
                target = record.get("target") or self.executions.get((run_id, model), {}).get("target")
                if self.run_id in (None, run_id) and self.table in ("", str(target).lower()):
                    check(f"{table} {key}", run_id, model, record)

    def check(self):
        self.check_chain()
        self.load_records()
        self.each("run_history", self.check_run)
        self.check_tables()
        self.each("model_executions", self.check_execution)
        self.each("input_provenance", self.check_provenance)
        self.each("input_index", self.check_index)
        self.each("output_artifacts", self.check_file)
        for root in sorted({each["warehouse"] for each in self.runs.values() if each.get("warehouse")}):
            with self.reading(f"{root}/_rocky/{self.ledger_id}.json"):
                self.check_anchor(root, f"{root}/_rocky/{self.ledger_id}.json")

    def check_chain(self):
        """Every write of a record has an entry, and every entry the hash of the one before."""
        previous, number, newest = "0" * 64, 1, {}
        for key, value in self.rows[CHAIN].items():
            where = f"{CHAIN} {key}"
            with self.reading(where):
                entry = json.loads(value)
                body = {name: each for name, each in entry.items() if name != "entry_hash"}
                own = entry["entry_hash"] == hash_of(canonical(body)) and value.decode() == canonical(entry)
                self.expect(own, "chain_broken", where, "it was changed: its hash is not that of what it says")
                follows = (key, entry["seq"], entry["previous"]) == (f"{number:012d}", number, previous)
                self.expect(follows, "chain_broken", where, "what should stand before it was removed, added or moved")
                previous, number = entry["entry_hash"], entry["seq"] + 1
                self.heads.append(previous)
                newest[entry["table"], entry["key"]] = entry.get("value_hash")
        first = next(iter(newest), None) == ("metadata", "ledger_id")
        self.expect(first, "chain_broken", CHAIN, "its first entry is not the ledger's id")
        rows = {(name, key): value for name in KEYS for key, value in self.rows[name].items()}
        rows.update({("metadata", "ledger_id"): self.rows["metadata"].get("ledger_id", b"")})
        for (name, key), value in rows.items():
            said, where = newest.pop((name, key), None), f"{name} {key}"
            if self.expect(said, "record_unchained", where, "no entry of the chain is about it: put there by hand"):
                self.expect(said == hash_of(value), "record_changed", where, "the chain has another hash of it")
        for (name, key), said in newest.items():
            self.expect(not said, "record_missing", f"{name} {key}", "it was recorded and is gone")

    def load_records(self):
        for name, key, value in ((name, key, value) for name in KEYS for key, value in self.rows[name].items()):
            with self.reading(f"{name} {key}"):
                row = json.loads(value)
                own = {"key": key, "run": key.split("|")[0], "model": row.get("model_name", "").lower(), **row}
                own = KEYS[name].format(**own).encode("utf-8", "backslashreplace").decode()
                self.expect(own == key, "record_inconsistent", f"{name} {key}", "its key is not that of what it says")
                self.records[name][key] = row
                if name == "output_artifacts":
                    self.files_of[row["run_id"], row["model_name"].lower()][row["file_path"]] = row
                    self.written_at[row["file_path"]] = max(row["written_at"], self.written_at.get(row["file_path"], ""))
        self.runs, self.count["records"] = self.records["run_history"], sum(map(len, self.records.values()))
        self.executions = {tuple(key.split("|", 1)): row for key, row in self.records["model_executions"].items()}
        self.provenance = {tuple(key.split("|", 1)): row for key, row in self.records["input_provenance"].items()}
        self.collected = {row["file_path"]: row["collected_at"] for row in self.records["collected_files"].values()}
        with self.reading("metadata ledger_id"):
            self.ledger_id = json.loads(self.rows["metadata"]["ledger_id"])

    def check_run(self, where, run_id, _, run):
        models = [row for (of, _), row in self.executions.items() if of == run_id]
        same = run["models_executed"] == sorted(models, key=lambda row: (row["started_at"], row["model_name"]))
        self.expect(same or run["status"] == "Running", "record_inconsistent", where,
                    "`models_executed` is not what `model_executions` has")

    def local(self, place, depth):
        """Where a place that is so deep below its warehouse lies now; None in an object store."""
        if self.warehouse:
            return Path(self.warehouse, *place.split("/")[place.count("/") + 1 - depth :])
        return None if "://" in place else Path(place)

    def place_of(self, run_id, model, target):
        # Early records say where a table is only by its files.
        root = self.runs.get(run_id, {}).get("warehouse")
        files = [path.rpartition("/")[0] for path in self.files_of[run_id, model]] if model else []
        return files[0] if files else root and f"{root}/{target.replace('.', '/')}"

    def check_tables(self):
        tables = defaultdict(dict)
        for (run_id, model), row in self.executions.items():
            for one in row.get("commits", []) + row.get("adopted", []):
                with self.reading(f"model_executions {run_id}|{model}"):
                    place = self.place_of(run_id, model, row["target"])
                    tables[place][one["version"]] = (one, one.get("run_id", run_id), model)
        roots = {row["warehouse"] for row in self.runs.values() if row.get("warehouse")}
        for root, folder in ((root, self.local(root, 0)) for root in roots):
            # Also tables that no record speaks of: a ledger may have been rolled back.
            for log in folder.glob("*/*/*/_delta_log") if folder else ():
                tables[f"{root}/{log.parent.relative_to(folder).as_posix()}"]
        for place, recorded in sorted(tables.items()):
            asked = self.run_id is None or any(run_id == self.run_id for _, run_id, _ in recorded.values())
            if asked and f".{place.replace('/', '.').lower()}".endswith(f".{self.table}" if self.table else ""):
                self.check_log(place, recorded)

    def check_log(self, place, recorded):
        """Every file of a log was recorded, byte for byte, and every recorded one is there."""
        log, live = self.local(f"{place}/_delta_log", 4), {}
        self.count["tables" if log else "tables in an object store, not checked"] += 1
        # A killed writer leaves `x#1`, which no reader of tables looks at.
        files = {path.relative_to(log).as_posix(): path.read_bytes() for path in (log.rglob("*") if log else ())
                 if path.is_file() and not re.search(r"#\d+$", path.name)}
        said = {f"{version:020d}.json": one["blake3_hash"] for version, (one, _, _) in recorded.items()}
        checkpoints = {version: one.get("checkpoint_blake3") for version, (one, _, _) in recorded.items()}
        said.update({f"{version:020d}.checkpoint.parquet": made for version, made in checkpoints.items() if made})
        versions = {int(name[:20]) for name in {*files, *said} if re.fullmatch(r"\d{20}\.json", name)}
        said.update({f"{version:020d}.json": None for version in range(max(versions, default=-1) + 1)
                     if version not in recorded})
        for name in sorted({*files, *said}) if log else ():
            where, data, version = f"{place}/_delta_log/{name}", files.get(name), int(f"0{name[:20]}") if name[:20].isdigit() else -1
            if name == "_last_checkpoint":
                self.check_hint(where, data, files, said)
            elif name not in said:
                fresh = name == f"{version:020d}.checkpoint.parquet" and version in versions - set(recorded)
                self.expect(fresh, "log_file_unknown", where, "no record has this file of the log")
            elif not self.expect(data is not None, "commit_missing", where, "it is gone from the log") or not self.expect(
                    said[name] in (None, hash_of(data)), "commit_changed", where, "it is not what was recorded"):
                live = live if name.endswith(".parquet") else None
            elif name.endswith(".json"):
                with self.reading(where):
                    live = self.replay(where, place, version, data, recorded, live)

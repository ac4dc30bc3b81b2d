"""Checks a state file of Rocky against its tables, without Rocky: this file and `blake3` will do.

    python verify_run.py STATE.db [--warehouse FOLDER] [--run RUN_ID] [--table CATALOG.SCHEMA.TABLE]

Prints one line a finding (`code: where: what it means`) and a summary. Exit code: 0 all agrees, 1 findings, 2 the
state file cannot be read. Only folders are looked into: what lies in an object store is counted as not checked,
unless `--warehouse` names a local copy.
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

CHAIN, DIED = "evidence_chain", "the process ended without finishing"
RECORDS = ("run_history", "model_executions", "output_artifacts", "input_provenance", "input_index", "collected_files",
           "branches", "watermarks", "check_history", "partitions", "grace_periods", "loaded_files")
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
        return bytes(islice(stream, varint(stream) if kind == 8 else {3: 1, 7: 8}[kind]))
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
    """All rows, values as bytes: those were hashed. Without a `-wal` nobody writes, and SQLite need make no side files."""
    mode = "mode=ro" if Path(f"{path}-wal").exists() else "immutable=1"
    with closing(sqlite3.connect(f"{Path(path).resolve().as_uri()}?{mode}", uri=True)) as file:
        file.text_factory = bytes
        file.execute("BEGIN")
        return {name: {key.decode("utf-8", "replace"): value for key, value in file.execute(f"SELECT * FROM {name} ORDER BY key")}
                for name in (*RECORDS, CHAIN, "metadata")}


class Audit:
    def __init__(self, rows, warehouse=None, run_id=None, table=None):
        self.rows, self.warehouse, self.run_id, self.table = rows, warehouse, run_id, (table or "").lower()
        self.findings, self.notes, self.count, self.heads = {}, {}, Counter(), []
        self.ledger_id = rows["metadata"].get("ledger_id", b"").decode("utf-8", "replace").strip('"')
        self.records, self.adds, self.states = {name: {} for name in RECORDS}, {}, defaultdict(dict)
        self.files_of, self.written_at, self.seen = defaultdict(dict), {}, set()

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

    def check(self):
        self.check_chain()
        self.load_records()
        self.check_tables()
        for table, check in (("run_history", self.check_run), ("model_executions", self.check_execution),
                             ("input_provenance", self.check_provenance), ("output_artifacts", self.check_file)):
            for key, row in self.records[table].items():
                with self.reading(f"{table} {key}"):
                    run_id, model = key.split("|")[0], row.get("model_name", "").lower()
                    target = row.get("target") or self.executions.get((run_id, model), {}).get("target")
                    if self.run_id in (None, run_id) and self.table in ("", str(target).lower()):
                        check(f"{table} {key}", run_id, model, row)
        for root in sorted({row["warehouse"] for row in self.runs.values() if row.get("warehouse")}):
            with self.reading(f"{root}/_rocky/{self.ledger_id}.json"):
                self.check_anchor(root, f"{root}/_rocky/{self.ledger_id}.json")

    def check_chain(self):
        """Every write of a record has an entry, and every entry the hash of the one before."""
        previous, number, newest = "0" * 64, 1, {}
        for key, value in self.rows[CHAIN].items():
            where = f"{CHAIN} {key}"
            with self.reading(where):
                entry = json.loads(value)
                own = hash_of(canonical({name: each for name, each in entry.items() if name != "entry_hash"}))
                self.expect(own == entry["entry_hash"] and value.decode() == canonical(entry), "chain_broken", where,
                            "it was changed: its hash is not that of what it says")
                follows = (key, entry["seq"], entry["previous"]) == (f"{number:012d}", number, previous)
                self.expect(follows, "chain_broken", where, "what should stand before it was removed, added or moved")
                previous, number = entry["entry_hash"], entry["seq"] + 1
                self.heads.append(previous)
                newest[entry["table"], entry["key"]] = entry.get("value_hash")
        first = next(iter(newest), None) == ("metadata", "ledger_id")
        self.expect(first, "chain_broken", CHAIN, "its first entry is not the ledger's id")
        rows = {(name, key): value for name in RECORDS for key, value in self.rows[name].items()}
        rows["metadata", "ledger_id"] = self.rows["metadata"].get("ledger_id", b"")
        for (name, key), value in rows.items():
            said, where = newest.pop((name, key), None), f"{name} {key}"
            if self.expect(said, "record_unchained", where, "no entry of the chain is about it: put there by hand"):
                self.expect(said == hash_of(value), "record_changed", where, "the chain has another hash of it")
        for (name, key), said in newest.items():
            self.expect(not said, "record_missing", f"{name} {key}", "it was recorded and is gone")

    def load_records(self):
        for name, key in ((name, key) for name in RECORDS for key in self.rows[name]):
            with self.reading(f"{name} {key}"):
                row = self.records[name][key] = dict(json.loads(self.rows[name][key]))
                if name == "output_artifacts":
                    self.files_of[row["run_id"], row["model_name"].lower()][row["file_path"]] = row
                    self.written_at[row["file_path"]] = max(row["written_at"], self.written_at.get(row["file_path"], ""))
        self.runs, self.count["records"] = self.records["run_history"], sum(map(len, self.records.values()))
        self.executions = {tuple(key.split("|", 1)): row for key, row in self.records["model_executions"].items()}
        self.provenance = {tuple(key.split("|", 1)): row for key, row in self.records["input_provenance"].items()}
        self.collected = {row["file_path"]: row["collected_at"] for row in self.records["collected_files"].values()}

    def check_run(self, where, run_id, _, run):
        models = [row for (of, _), row in self.executions.items() if of == run_id]
        same = run["models_executed"] == sorted(models, key=lambda row: (row["started_at"], row["model_name"]))
        self.expect(same or run["status"] == "Running", "record_inconsistent", where, "`models_executed` is not `model_executions`")

    def local(self, place, depth):
        """Where a place that is so deep below its warehouse lies now; None in an object store."""
        if self.warehouse:
            return Path(self.warehouse, *place.split("/")[place.count("/") + 1 - depth :])
        return None if "://" in place else Path(place)

    def place_of(self, run_id, model, target):
        files = [path.rpartition("/")[0] for path in self.files_of[run_id, model]]
        return files[0] if files else f"{self.runs.get(run_id, {}).get('warehouse')}/{str(target).replace('.', '/')}"

    def check_tables(self):
        tables = defaultdict(dict)
        for (run_id, model), row in self.executions.items():
            with self.reading(f"model_executions {run_id}|{model}"):
                for one in row.get("commits", []) + row.get("adopted", []):
                    made = tables[self.place_of(run_id, model, row["target"])]
                    made[one["version"]] = (one, one.get("run_id", run_id), model)
        for root in {row["warehouse"] for row in self.runs.values() if row.get("warehouse")}:
            # Also tables that no record speaks of: a ledger may have been rolled back.
            for log in self.local(root, 0).glob("*/*/*/_delta_log") if self.local(root, 0) else ():
                tables[f"{root}/{log.parent.relative_to(self.local(root, 0)).as_posix()}"]
        for place, recorded in sorted(tables.items()):
            asked = self.run_id is None or any(run_id == self.run_id for _, run_id, _ in recorded.values())
            if asked and place.replace("/", ".").lower().endswith(self.table):
                self.check_log(place, recorded)

    def check_log(self, place, recorded):
        """Every file of a log was recorded, byte for byte, and every recorded one is there."""
        log, live, broken = self.local(f"{place}/_delta_log", 4), {}, False
        self.count["tables" if log else "tables in an object store, not checked"] += 1
        # A killed writer leaves `x#1`, which no reader of tables looks at.
        files = {path.relative_to(log).as_posix(): path.read_bytes() for path in (log.rglob("*") if log else ())
                 if path.is_file() and not re.search(r"#\d+$", path.name)}
        points = {version: one["checkpoint_blake3"] for version, (one, _, _) in recorded.items() if "checkpoint_blake3" in one}
        said = {f"{version:020d}.checkpoint.parquet": made for version, made in points.items()}
        found = {int(name[:20]) for name in files if re.fullmatch(r"\d{20}\.json", name)}
        for version in range(max(found | set(recorded), default=-1) + 1):
            said[f"{version:020d}.json"] = recorded[version][0]["blake3_hash"] if version in recorded else None
        for name in sorted({*files, *said}) if log else ():
            where, data, version = f"{place}/_delta_log/{name}", files.get(name), int("0" + re.match(r"\d{0,20}", name)[0])
            if name not in said:
                fresh = name == f"{version:020d}.checkpoint.parquet" and version in found - set(recorded)
                self.expect(fresh or name == "_last_checkpoint", "log_file_unknown", where, "no record has this file of the log")
            elif not self.expect(data is not None, "commit_missing", where, "it is gone from the log") or not self.expect(
                    said[name] in (None, hash_of(data)), "commit_changed", where, "it is not what was recorded"):
                broken = True
            elif name.endswith(".json"):
                with self.reading(where):
                    live = self.states[place][version] = self.replay(where, place, version, data, recorded, dict(live))
        if log and points and max(points) == max(map(int, re.findall(r"(\d{20})\.checkpoint", " ".join({*files, *said})))):
            data = files.get(f"{max(points):020d}.checkpoint.parquet", b"")
            with self.reading(f"{place}/_delta_log/_last_checkpoint"):
                facts = {"version": max(points), "size": footer_rows(data), "sizeInBytes": len(data)}
                hint = json.loads(files.get("_last_checkpoint", b"{}"))
                self.expect(all(hint.get(name) == fact for name, fact in facts.items()), "commit_changed",
                            f"{place}/_delta_log/_last_checkpoint", "it does not describe the newest checkpoint")
        if broken:
            self.states.pop(place, None)

    def replay(self, where, place, version, data, recorded, live):
        """The files of a table after a commit, with size and rows."""
        actions = [json.loads(line) for line in data.splitlines()]
        info = next((each["commitInfo"] for each in actions if "commitInfo" in each), {})
        maker, run = (info.get("runId"), str(info.get("model")).lower()), self.runs.get(info.get("runId"), {})
        unfinished = version > max(recorded, default=-1) and (run.get("status") == "Running" or run.get("reason") == DIED)
        early = run and not run.get("warehouse")
        if version in recorded:
            self.expect(recorded[version][1:] == maker, "record_inconsistent", where, "its record is of another run or model")
            known = info.get("ledgerId") == self.ledger_id and info.get("ledgerHead") in self.heads
            self.expect(known, "head_unknown", where, "it names a state of the ledger that the chain never had")
        elif self.expect(unfinished or early, "commit_unrecorded", where, f"no record has this commit of run `{maker[0]}`"):
            self.notes[f"{where}: {'from before commits were recorded' if early else 'its run died or is not done'}"] = None
        for each in actions:
            live.pop(f"{place}/{unquote(each.get('remove', {}).get('path', ''))}", None)
        for add in (each["add"] for each in actions if "add" in each):
            path = f"{place}/{unquote(add['path'])}"
            live[path] = self.adds[path] = (add["size"], json.loads(add["stats"])["numRecords"])
            same = self.files_of[maker].get(path, {}).get("size_bytes") == add["size"]
            self.expect(same or version not in recorded, "record_missing", where, f"no record has its `{path}`")
        return live

    def check_execution(self, where, run_id, model, row):
        state = self.states.get(self.place_of(run_id, model, row.get("target")), {}).get(row.get("commit_version"))
        if state is not None and row.get("strategy") in ("full_refresh", "seed") and "rows_affected" in row:
            rows = sum(rows for _, rows in state.values())
            self.expect(rows == row["rows_affected"], "rows_mismatch", where, f"it says {row['rows_affected']} rows, the log {rows}")
        if "reused_from" in row:
            files = {each["blake3_hash"] for each in self.files_of[run_id, model].values()}
            same = files <= set(self.provenance.get((row["reused_from"], model), {}).get("output_blake3", ()))
            self.expect(same, "record_inconsistent", where, f"its files are not those that `{row['reused_from']}` made")

    def check_provenance(self, where, run_id, model, row):
        ir, execution = json.loads(row["model_ir_canonical_json"]), self.executions[run_id, model]
        upstreams = sorted(row.get("upstreams", ()), key=lambda each: (each["upstream_key"], each["kind"]))
        inputs = {"skip_hash": row["skip_hash"], "target": ir["target"], "upstreams": upstreams, "version": 1}
        skip = {**{name: ir[name] for name in SKIP}, "reads": sorted(ir["reads"])}
        made = {"recipe_hash": row["model_ir_canonical_json"], "skip_hash": canonical(skip), "input_hash": canonical(inputs),
                "env_hash": row.get("env_canonical_json", ""), "sql_hash": row["executed_sql"]}
        for name, text in made.items():
            for said in (row.get(name), execution.get(name)):
                self.expect(said in (None, "", hash_of(text)), "hash_mismatch", where, f"`{name}` is not the hash of what it is made of")
        hashes, paths = row.get("output_blake3", []), row.get("output_path", [])
        named = len(hashes) == len(paths) and all(Path(path).stem == one for one, path in zip(hashes, paths))
        self.expect(named and {*paths} <= {*self.written_at}, "record_inconsistent", where, "its outputs are no recorded files")
        reads, identities = list(row.get("reads", ())), set()
        for read in reads:
            reads += read.get("reads", ())
            files = sorted((each["path"], each.get("blake3_hash")) for each in read.get("files", ()))
            identities |= {read.get("identity"), hash_of("".join(f"{digest}  {path}\n" for path, digest in files))}
            state = self.states.get(self.place_of(run_id, "", read.get("target")), {}).get(read.get("version"))
            same = state is None or content_hash(Path(path).stem for path in state) == read.get("identity")
            self.expect(same, "hash_mismatch", where, f"`{read['name']}` was not what it says was read")
        read = all(each["blake3_hash"] in identities for each in upstreams if each["kind"] == "content")
        self.expect(read, "hash_mismatch", where, "an upstream is not the hash of what was read")
        for key, entry in self.records["input_index"].items():
            if (entry["run_id"], entry["model_name"].lower()) == (run_id, model):
                same = all(row.get(name) == entry.get(name) for name in ("target", "env_hash", "output_blake3", "output_path"))
                self.expect(same and key in (row.get("input_hash"), row.get("cutoff_hash")), "record_inconsistent",
                            f"input_index {key}", "it is not what the provenance of its run says")

    def check_file(self, where, run_id, model, row):
        place, size, digest = row["file_path"], row["size_bytes"], row["blake3_hash"]
        state, path = self.states.get(place.rpartition("/")[0], {}).get(row["commit_version"]), self.local(place, 4)
        there = state is None or state.get(place, (None,))[0] == size
        self.expect(there, "record_inconsistent", where, "the table had no such file at that version")
        gone = self.collected.get(place, "") > self.written_at[place]
        self.count["files collected since" if gone else "files" if path else "files in an object store, not checked"] += 1
        if gone or path is None or (place, size, digest) in self.seen:
            return
        self.seen.add((place, size, digest))
        if self.expect(path.is_file(), "file_missing", place, "it was recorded and is gone"):
            data = path.read_bytes()
            if self.expect((len(data), hash_of(data)) == (size, digest) and digest == path.stem, "file_changed", place,
                           "its bytes are not those that were recorded"):
                rows = footer_rows(data)
                self.expect(self.adds.get(place, (0, rows))[1] == rows, "rows_mismatch", place, f"it has {rows} rows, the log says otherwise")

    def check_anchor(self, root, where):
        """What the warehouse remembers of the ledger: a ledger that lacks it was rolled back."""
        path = self.local(where, 2)
        ended = any(row.get("warehouse") == root and "finished_at" in row for row in self.runs.values())
        if path and self.expect(path.is_file() or not ended, "anchor_missing", where, "runs ended here, and it is gone"):
            anchor = json.loads(path.read_text()) if path.is_file() else {"seq": 1, "head": self.heads[0], "run_id": None}
            self.expect(anchor["run_id"] in {None, *self.runs}, "head_unknown", where, "it is of a run that the ledger has not")
            if self.expect(0 < anchor["seq"] <= len(self.heads), "anchor_ahead", where, "the ledger is older: it was rolled back"):
                self.expect(self.heads[anchor["seq"] - 1] == anchor["head"], "head_unknown", where, "the chain never had this head")


def main(arguments=None):
    parser = argparse.ArgumentParser(description="Check a state file of Rocky against its tables.")
    parser.add_argument("state")
    for option in ("--warehouse", "--run", "--table"):
        parser.add_argument(option)
    asked = parser.parse_args(arguments)
    try:
        audit = Audit(load(asked.state), asked.warehouse, asked.run, asked.table)
    except (sqlite3.Error, OSError) as error:
        print(f"cannot read `{asked.state}`: {error}", file=sys.stderr)
        return 2
    audit.check()
    print(*audit.findings, *(f"note: {each}" for each in audit.notes), sep="\n")
    print("checked:", ", ".join(f"{count} {what}" for what, count in {**audit.count, "findings": len(audit.findings)}.items()))
    return 1 if audit.findings else 0


if __name__ == "__main__":
    sys.exit(main())

"""Checks a state file of Rocky against its tables, without Rocky: this file and `blake3` will do.

    python verify_run.py STATE.db [--warehouse FOLDER] [--run RUN_ID] [--table CATALOG.SCHEMA.TABLE]

Prints a line for each finding (`code: where: what it means`) and a summary. Exit code: 0 all agrees, 1 findings, 2 the
state file cannot be read. What lies in an object store is not checked, unless `--warehouse` names a local copy of it.
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
WHOLE = ("full_refresh", "materialized_view", "content_addressed", "seed")  # strategies that write all rows of a table
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


def thrift(stream, kind=0):
    """A value of Thrift's compact protocol: of kind 0 a plain number, a struct as a dict by the numbers of its fields."""
    if kind in (0, 4, 5, 6):
        byte, value, shift = 128, 0, 0
        while byte > 127:
            byte = next(stream)
            value, shift = value | (byte & 127) << shift, shift + 7
        return (value >> 1) ^ -(value & 1) if kind else value
    if kind in (3, 7, 8):
        return bytes(islice(stream, {3: 1, 7: 8}[kind] if kind < 8 else thrift(stream)))
    if kind in (9, 10):
        head = next(stream)
        return [thrift(stream, head & 15) for _ in range(head >> 4 if head >> 4 < 15 else thrift(stream))]
    found, number = {}, 0
    while kind == 12 and (head := next(stream)):
        number = number + (head >> 4) if head >> 4 else thrift(stream, 4)
        found[number] = thrift(stream, head & 15)
    return found


def footer_rows(data):
    """How many rows a Parquet file has: field 3 of its footer."""
    return thrift(iter(data[-8 - int.from_bytes(data[-8:-4], "little") : -8]), 12)[3]


def load(path):
    """All rows, values as bytes: those were hashed. Without a `-wal` nobody writes, and no side files are needed."""
    mode = "mode=ro" if Path(f"{path}-wal").exists() else "immutable=1"
    with closing(sqlite3.connect(f"{Path(path).resolve().as_uri()}?{mode}", uri=True)) as file:
        file.text_factory = bytes
        file.execute("BEGIN")
        asked = {name: file.execute(f"SELECT key, value FROM {name} ORDER BY key") for name in (*RECORDS, CHAIN)}
        asked["metadata"] = file.execute("SELECT key, value FROM metadata WHERE key = 'ledger_id'")
        return {name: {key.decode("utf-8", "replace"): value for key, value in rows} for name, rows in asked.items()}


class Audit:
    def __init__(self, rows, warehouse=None, run_id=None, table=None):
        self.rows, self.warehouse, self.run_id, self.table = rows, warehouse, run_id, (table or "").lower()
        self.findings, self.notes, self.count, self.heads, self.seen = {}, {}, Counter(), [], set()
        self.records, self.adds, self.states = {name: {} for name in RECORDS}, {}, defaultdict(dict)
        self.files_of, self.written_at = defaultdict(dict), {}
        self.ledger_id = rows["metadata"].get("ledger_id", b"").decode("utf-8", "replace").strip('"')

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
                             ("input_provenance", self.check_provenance), ("input_index", self.check_index),
                             ("output_artifacts", self.check_file)):
            for key, row in self.records[table].items():
                with self.reading(f"{table} {key}"):
                    maker = (row.get("run_id", key.split("|")[0]), row.get("model_name", "").lower())
                    target = row.get("target") or self.executions.get(maker, {}).get("target")
                    if self.run_id in (None, maker[0]) and self.table in ("", str(target).lower()):
                        check(f"{table} {key}", maker, row)
        for root in self.roots:
            with self.reading(f"{root}/_rocky/{self.ledger_id}.json"):
                self.check_anchor(root, f"{root}/_rocky/{self.ledger_id}.json")

    def check_chain(self):
        """Every write of a record has an entry, and every entry the hash of the one before."""
        previous, number, newest = "0" * 64, 1, {}
        for key, value in self.rows[CHAIN].items():
            with self.reading(f"{CHAIN} {key}"):
                entry = json.loads(value)
                own = hash_of(canonical({name: each for name, each in entry.items() if name != "entry_hash"}))
                whole = own == entry["entry_hash"] and value.decode() == canonical(entry)
                self.expect(whole, "chain_broken", f"{CHAIN} {key}", "it was changed: its hash is not that of what it says")
                follows = (key, entry["seq"], entry["previous"]) == (f"{number:012d}", number, previous)
                self.expect(follows, "chain_broken", f"{CHAIN} {key}", "entries before it were removed, added or moved")
                previous, number = entry["entry_hash"], entry["seq"] + 1
                self.heads.append(previous)
                newest[entry["table"], entry["key"]] = entry.get("value_hash")
        self.expect(("metadata", "ledger_id") in [*newest][:1], "chain_broken", CHAIN, "it does not begin with the ledger's id")
        for name, key in ((name, key) for name in (*RECORDS, "metadata") for key in self.rows[name]):
            said, where = newest.pop((name, key), None), f"{name} {key}"
            if self.expect(said, "record_unchained", where, "no entry of the chain is about it: put there by hand"):
                self.expect(said == hash_of(self.rows[name][key]), "record_changed", where, "the chain has another hash of it")
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
        self.roots = sorted({row["warehouse"] for row in self.runs.values() if row.get("warehouse")})

    def check_run(self, where, maker, run):
        models = [row for (run_id, _), row in self.executions.items() if run_id == maker[0]]
        same = run["models_executed"] == sorted(models, key=lambda row: (row["started_at"], row["model_name"]))
        self.expect(same or run["status"] == "Running", "record_inconsistent", where, "its models are not as recorded")

    def local(self, place, depth):
        """Where a place that is so deep below its warehouse lies now; None in an object store."""
        if self.warehouse:
            return Path(self.warehouse, *place.split("/")[place.count("/") + 1 - depth :])
        return None if "://" in place else Path(place)

    def place_of(self, maker, target):
        files = [path.rpartition("/")[0] for path in self.files_of[maker]]
        return files[0] if files else f"{self.runs.get(maker[0], {}).get('warehouse')}/{str(target).replace('.', '/')}"

    def check_tables(self):
        tables = defaultdict(dict)
        for maker, row in self.executions.items():
            with self.reading(f"model_executions {'|'.join(maker)}"):
                for one in row.get("commits", []) + row.get("adopted", []):
                    made_by = (one.get("run_id", maker[0]), maker[1])
                    tables[self.place_of(maker, row["target"])][one["version"]] = (one, made_by)
        for root in self.roots if self.run_id is None and not self.table else ():
            # Also tables that no record speaks of: a ledger may have been rolled back.
            for log in self.local(root, 0).glob("*/*/*/_delta_log") if self.local(root, 0) else ():
                tables["/".join([root, *log.parts[-4:-1]])]
        for place, recorded in sorted(tables.items()):
            asked = self.run_id is None or any(maker[0] == self.run_id for _, maker in recorded.values())
            if asked and place.replace("/", ".").lower().endswith(self.table):
                self.check_log(place, f"{place}/_delta_log", recorded)

    def check_log(self, place, log, recorded):
        """Every file of a log was recorded, byte for byte, and every recorded one is there."""
        folder, live, broken = self.local(log, 4), {}, False
        self.count["tables" if folder else "tables in an object store, not checked"] += 1
        # A killed writer leaves `x#1`, which no reader of tables looks at.
        files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in (folder.rglob("*") if folder else ())
                 if path.is_file() and not re.search(r"#\d+$", path.name)}
        points = {one: each[0]["checkpoint_blake3"] for one, each in recorded.items() if "checkpoint_blake3" in each[0]}
        said = {f"{version:020d}.checkpoint.parquet": made for version, made in points.items()}
        found = {int(name[:20]) for name in files if re.fullmatch(r"\d{20}\.json", name)}
        for version in range(max(found | set(recorded), default=-1) + 1):
            said[f"{version:020d}.json"] = recorded[version][0]["blake3_hash"] if version in recorded else None
        fresh = {f"{version:020d}.checkpoint.parquet" for version in found - set(recorded)} & set(files)
        for name in sorted({*files, *said} - fresh) if folder else ():
            where, data = f"{log}/{name}", files.get(name)
            if name not in said:
                self.expect(name == "_last_checkpoint", "log_file_unknown", where, "no record has this file of the log")
            elif data is None or said[name] not in (None, hash_of(data)):
                code, broken = "commit_missing" if data is None else "commit_changed", True
                self.expect(False, code, where, "it is gone" if data is None else "it is not what was recorded")
            elif name.endswith(".json"):
                with self.reading(where):
                    live = self.states[place][int(name[:20])] = self.replay(where, place, data, recorded, dict(live))
        newest, hint = max(points, default=-1), files.get("_last_checkpoint", b"{}")
        with self.reading(f"{log}/_last_checkpoint"):
            data, said = files.get(f"{newest:020d}.checkpoint.parquet", b""), json.loads(hint)
            facts = {"version": newest, "size": data and footer_rows(data), "sizeInBytes": len(data),
                     "numOfAddFiles": len(self.states[place].get(newest, ()))}
            same = ("version" in said) == bool(points) and all(facts.get(name, each) == each for name, each in said.items())
            self.expect(same or broken or fresh or not folder, "commit_changed", f"{log}/_last_checkpoint", "it tells of another")
        if broken:
            self.states.pop(place, None)

    def replay(self, where, place, data, recorded, live):
        """The files of a table after a commit, with size and rows."""
        version, actions = int(where[-25:-5]), [json.loads(line) for line in data.splitlines()]
        info = next((each["commitInfo"] for each in actions if "commitInfo" in each), {})
        maker, run = (info.get("runId"), str(info.get("model")).lower()), self.runs.get(info.get("runId"), {})
        unfinished = version > max(recorded, default=-1) and (run.get("status") == "Running" or run.get("reason") == DIED)
        early = run and not run.get("warehouse") and self.files_of[maker]
        if version in recorded:
            self.expect(recorded[version][1] == maker, "record_inconsistent", where, "its record is of another run or model")
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
            self.expect(same or version not in recorded, "record_missing", where, f"no record has its file `{path}`")
        return live

    def check_execution(self, where, maker, row):
        state = self.states.get(self.place_of(maker, row.get("target")), {}).get(row.get("commit_version"))
        if state is not None and row.get("strategy") in WHOLE and "rows_affected" in row:
            rows, said = sum(rows for _, rows in state.values()), row["rows_affected"]
            self.expect(rows == said, "rows_mismatch", where, f"it says {said} rows, the log says {rows}")
        files = {each["blake3_hash"] for each in self.files_of[maker].values()}
        made = self.provenance.get((row.get("reused_from"), maker[1]), {}).get("output_blake3", ())
        self.expect("reused_from" not in row or files <= set(made), "record_inconsistent", where, "it reused other files")

    def check_provenance(self, where, maker, row):
        ir, execution = json.loads(row["model_ir_canonical_json"]), self.executions[maker]
        upstreams = sorted(row.get("upstreams", ()), key=lambda each: (each["upstream_key"], each["kind"]))
        inputs = {"skip_hash": row["skip_hash"], "target": ir["target"], "upstreams": upstreams, "version": 1}
        made = {"recipe_hash": row["model_ir_canonical_json"], "input_hash": canonical(inputs),
                "skip_hash": canonical({**{name: ir[name] for name in SKIP}, "reads": sorted(ir["reads"])}),
                "env_hash": row.get("env_canonical_json", ""), "sql_hash": row["executed_sql"]}
        for name, said in ((name, each.get(name)) for name in made for each in (row, execution)):
            self.expect(said in (None, "", hash_of(made[name])), "hash_mismatch", where, f"`{name}` is no hash of its parts")
        hashes, paths = row.get("output_blake3", []), row.get("output_path", [])
        named = [Path(path).stem for path in paths] == hashes and {*paths} <= {*self.written_at}
        self.expect(named, "record_inconsistent", where, "its outputs are no recorded files, or have other names")
        reads, identities = list(row.get("reads", ())), set()
        for read in reads:
            reads += read.get("reads", ())
            files = sorted((each["path"], each.get("blake3_hash")) for each in read.get("files", ()))
            identities |= {read.get("identity"), hash_of("".join(f"{digest}  {path}\n" for path, digest in files))}
            state = self.states.get(self.place_of((maker[0], ""), read.get("target")), {}).get(read.get("version"))
            same = state is None or content_hash(Path(path).stem for path in state) == read.get("identity")
            self.expect(same, "hash_mismatch", where, f"`{read['name']}` was not what it says was read")
        known = all(each["blake3_hash"] in identities for each in upstreams if each["kind"] == "content")
        self.expect(known, "hash_mismatch", where, "an upstream is not the hash of what was read")

    def check_index(self, where, maker, entry):
        made = self.provenance.get(maker, {})
        same = all(made.get(name) == entry.get(name) for name in ("target", "env_hash", "output_blake3", "output_path"))
        self.expect(made and same, "record_inconsistent", where, "it is not what the provenance of its run says")

    def check_file(self, where, maker, row):
        place, size, digest = row["file_path"], row["size_bytes"], row["blake3_hash"]
        state, path = self.states.get(place.rpartition("/")[0], {}).get(row["commit_version"], {place: 0}), self.local(place, 4)
        self.expect(place in state, "record_inconsistent", where, "the table had no such file at that version")
        gone = self.collected.get(place, "") > self.written_at[place]
        self.count["files collected since" if gone else "files" if path else "files in an object store, not checked"] += 1
        if gone or path is None or (place, size, digest) in self.seen:
            return
        self.seen.add((place, size, digest))
        if self.expect(path.is_file(), "file_missing", place, "it was recorded and is gone"):
            data = path.read_bytes()
            same = (len(data), hash_of(data), path.stem) == (size, digest, digest)
            if self.expect(same, "file_changed", place, "its bytes are not those that were recorded"):
                said, rows = self.adds.get(place, (0, None))[1], footer_rows(data)
                self.expect(said in (None, rows), "rows_mismatch", place, f"it has {rows} rows, the log says {said}")

    def check_anchor(self, root, where):
        """What the warehouse remembers of the ledger: a ledger that lacks it was rolled back."""
        ended = [row for row in self.runs.values() if row.get("warehouse") == root and "finished_at" in row]
        path = self.local(where, 2)
        if path and self.expect(path.is_file() or not ended, "anchor_missing", where, "runs ended here, and it is gone"):
            anchor = json.loads(path.read_text()) if path.is_file() else {"seq": 1, "head": self.heads[0]}
            self.expect(anchor.get("run_id") in {None, *self.runs}, "head_unknown", where, "the ledger lacks its run")
            if self.expect(0 < anchor["seq"] <= len(self.heads), "anchor_ahead", where, "the ledger was rolled back"):
                known = self.heads[anchor["seq"] - 1] == anchor["head"]
                self.expect(known, "head_unknown", where, "the chain never had this head: it was rewritten")


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
    checked = ", ".join(f"{number} {what}" for what, number in audit.count.items())
    print(*audit.findings, *(f"note: {each}" for each in audit.notes), f"{len(audit.findings)} findings in {checked}", sep="\n")
    return 1 if audit.findings else 0


if __name__ == "__main__":
    sys.exit(main())

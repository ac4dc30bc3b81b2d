"""Checks a state file of Rocky against its tables, without Rocky: this file and `blake3` will do.

    python verify_run.py STATE.db [--warehouse FOLDER] [--run RUN_ID] [--table CATALOG.SCHEMA.TABLE]

Prints a line for each finding (`code: where: what it means`) and a summary. Exit code: 0 all agrees, 1 findings, 2 the
state file cannot be read. What lies in an object store is not checked, unless `--warehouse` names a local copy of it.
"""

import argparse
import json
import sqlite3
import sys
from collections import Counter, defaultdict
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import unquote

from blake3 import blake3

CHAIN = "evidence_chain"
RECORDS = ("run_history", "model_executions", "output_artifacts", "input_provenance", "input_index", "collected_files",
           "branches", "watermarks", "check_history", "partitions", "grace_periods", "loaded_files")
SKIP = ("materialization", "normalized_sql", "normalizer_version", "target", "typed_columns")
WHOLE = ("full_refresh", "materialized_view", "content_addressed", "seed")  # strategies that write all rows anew
DAMAGED = (KeyError, TypeError, ValueError, AttributeError, IndexError, StopIteration)


def hash_of(data):
    return blake3(data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data).hexdigest()


def canonical(document):
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text.encode("utf-8", "backslashreplace").decode()


def thrift(stream, kind=0):
    """A value of Thrift's compact protocol: of kind 0 a plain number, a struct as a dict by the numbers of its fields."""
    if kind in (0, 4, 5, 6):
        byte = next(stream)
        value = (byte & 127) | (thrift(stream) << 7 if byte > 127 else 0)
        return (value >> 1) ^ -(value & 1) if kind else value
    if kind in (3, 7, 8):
        return bytes([next(stream) for _ in range({3: 1, 7: 8}[kind] if kind < 8 else thrift(stream))])
    if kind in (9, 10):
        head = next(stream)
        return [thrift(stream, head & 15) for _ in range(head >> 4 if head >> 4 < 15 else thrift(stream))]
    found, number = {}, 0
    while kind == 12 and (head := next(stream)):
        number = number + (head >> 4) if head >> 4 else thrift(stream, 4)
        found[number] = thrift(stream, head & 15)
    return found


def footer_rows(data):  # how many rows a Parquet file has is field 3 of its footer
    return thrift(iter(data[-8 - int.from_bytes(data[-8:-4], "little") : -8]), 12)[3]


def load(path):
    """All rows, values as bytes: those were hashed. Without a `-wal` nobody writes, and no side files are needed."""
    mode = "mode=ro" if Path(f"{path}-wal").exists() else "immutable=1"
    with closing(sqlite3.connect(f"{Path(path).resolve().as_uri()}?{mode}", uri=True)) as file:
        file.text_factory, _ = bytes, file.execute("BEGIN")
        asked = {name: file.execute(f"SELECT key, value FROM {name} ORDER BY key") for name in (*RECORDS, CHAIN)}
        asked["metadata"] = file.execute("SELECT key, value FROM metadata WHERE key = 'ledger_id'")
        return {name: {key.decode("utf-8", "replace"): value for key, value in rows} for name, rows in asked.items()}


class Audit:
    def __init__(self, rows, warehouse=None, run_id=None, table=None):
        self.rows, self.warehouse, self.run_id, self.table = rows, warehouse, run_id, (table or "").lower()
        self.findings, self.notes, self.count, self.heads, self.seen = {}, {}, Counter(), {}, {}
        self.records, self.adds, self.states, self.written_at = {name: {} for name in RECORDS}, {}, {}, {}
        self.files_of, name = defaultdict(dict), rows["metadata"].get("ledger_id", b"")
        self.ledger_id = name.decode("utf-8", "replace").strip('"')

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
                    maker = (row.get("run_id", key.split("|")[0]), row.get("model_name", "").lower())
                    target = row.get("target") or self.executions.get(maker, {}).get("target")
                    if self.run_id in (None, maker[0]) and self.table in ("", str(target).lower()):
                        check(f"{table} {key}", maker, row)
        for root in self.roots:
            with self.reading(f"{root}/_rocky/{self.ledger_id}.json"):
                self.check_anchor(root, f"{root}/_rocky/{self.ledger_id}.json")

    def check_chain(self):  # every write of a record has an entry, and every entry the hash of the one before
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
                self.heads[previous] = entry["seq"]
                newest[entry["table"], entry["key"]] = entry.get("value_hash")
        self.expect(("metadata", "ledger_id") in [*newest][:1], "chain_broken", CHAIN, "it does not begin with the ledger's id")
        for name, key in ((each, key) for each in (*RECORDS, "metadata") for key in self.rows[each]):
            said, where = newest.pop((name, key), None), f"{name} {key}"
            if self.expect(said, "record_unchained", where, "no entry of the chain is about it: put there by hand"):
                self.expect(said == hash_of(self.rows[name][key]), "record_changed", where, "the chain has another hash of it")
        for (name, key), said in newest.items():
            self.expect(not said, "record_missing", f"{name} {key}", "it was recorded and is gone")

    def load_records(self):
        for name, key in ((each, key) for each in RECORDS for key in self.rows[each]):
            with self.reading(f"{name} {key}"):
                row = self.records[name][key] = dict(json.loads(self.rows[name][key]))
                if name == "output_artifacts":
                    self.files_of[row["run_id"], row["model_name"].lower()][row["file_path"]] = row
                    self.written_at[row["file_path"]] = max(row["written_at"], self.written_at.get(row["file_path"], ""))
        self.runs, self.count["records"] = self.records["run_history"], sum(map(len, self.records.values()))
        self.executions = {tuple(key.split("|", 1)): row for key, row in self.records["model_executions"].items()}
        rows, self.models = self.records["input_provenance"].values(), Counter(run_id for run_id, _ in self.executions)
        self.made = {(row.get("run_id"), str(row.get("target")).lower()): row.get("output_path", ()) for row in rows}
        self.collected = {row["file_path"]: row["collected_at"] for row in self.records["collected_files"].values()}
        self.roots = sorted({row["warehouse"] for row in self.runs.values() if row.get("warehouse")})

    def check_run(self, where, maker, run):
        done = [self.executions.get((maker[0], each["model_name"].lower())) for each in run["models_executed"]]
        same = run["status"] == "Running" or (done == run["models_executed"] and len(done) == self.models[maker[0]])
        self.expect(same, "record_inconsistent", where, "its models are not as recorded")

    def local(self, place, depth):  # where a place that is so deep below its warehouse lies now; None in an object store
        if self.warehouse:
            return Path(self.warehouse, *place.split("/")[place.count("/") + 1 - depth :])
        return None if "://" in place else Path(place)

    def place_of(self, run_id, target):
        return f"{self.runs.get(run_id, {}).get('warehouse')}/{str(target).replace('.', '/')}"

    def check_tables(self):
        tables = defaultdict(dict)
        for (run_id, model), row in self.executions.items():
            with self.reading(f"model_executions {run_id}|{model}"):
                for one in row.get("commits", []) + row.get("adopted", []):
                    said, name = tables[self.place_of(run_id, row["target"])], f"{one['version']:020d}"
                    said[f"{name}.json"] = (one["blake3_hash"], (one.get("run_id", run_id), one.get("model_name", model).lower()))
                    if "checkpoint_blake3" in one:
                        said[f"{name}.checkpoint.parquet"] = (one["checkpoint_blake3"], (run_id, model))
        for root in self.roots if self.run_id is None and not self.table else ():
            # Also tables that no record speaks of: a ledger may have been rolled back.
            for log in self.local(root, 0).glob("*/*/*/_delta_log") if self.local(root, 0) else ():
                tables["/".join([root, *log.parts[-4:-1]])]
        for place, recorded in sorted(tables.items()):
            makers = {maker[0] for _, maker in recorded.values()}
            if self.run_id in (None, *makers) and f".{place}".replace("/", ".").lower().endswith(self.table and f".{self.table}"):
                self.check_log(place, f"{place}/_delta_log", recorded)

    def check_log(self, place, log, recorded):  # every file of a log was recorded, and every recorded one is there
        folder, live, states, broken = self.local(log, 4), {}, {}, False
        self.count["tables" if folder else "tables in an object store, not checked"] += 1
        if folder is None:
            return
        # A killed writer leaves `x#1`, which no reader of tables looks at.
        files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*")
                 if path.is_file() and "#" not in path.name}
        unrecorded = {*files} - {*recorded, "_last_checkpoint"}
        for name in sorted({*files, *recorded}):
            where, data = f"{log}/{name}", files.get(name)
            if name in recorded and (data is None or hash_of(data) != recorded[name][0]):
                code, broken = "commit_missing" if data is None else "commit_changed", True
                self.expect(False, code, where, "it is gone" if data is None else "it is not what was recorded")
            elif name[:20].isdigit() and name[20:] == ".json":
                with self.reading(where):
                    self.expect(broken or int(name[:20]) == len(states), "commit_missing", where, "the one before it is gone")
                    live = states[int(name[:20])] = self.replay(where, place, data, recorded, dict(live))
            elif name in unrecorded:
                point = f"{name[:20]}.json" in unrecorded and name[20:] == ".checkpoint.parquet"
                self.expect(point, "log_file_unknown", where, "no record has this file of the log")
        newest = max((name for name in recorded if name.endswith("t")), default="-1")
        with self.reading(f"{log}/_last_checkpoint"):
            data, said = files.get(newest, b""), json.loads(files.get("_last_checkpoint", b"{}"))
            facts = {"version": int(newest[:20]), "size": data and footer_rows(data), "sizeInBytes": len(data),
                     "numOfAddFiles": len(states.get(int(newest[:20]), ()))}
            same = ("version" in said) == (newest in recorded) and all(facts.get(key, each) == each for key, each in said.items())
            self.expect(same or broken or unrecorded, "commit_changed", f"{log}/_last_checkpoint", "it tells of another checkpoint")
        self.states[place] = {} if broken else states

    def replay(self, where, place, data, recorded, live):  # the files of a table after a commit, with size and rows
        name, actions = where[-25:], [json.loads(line) for line in data.splitlines()]
        info = next((each["commitInfo"] for each in actions if "commitInfo" in each), {})
        maker, run = (info.get("runId"), str(info.get("model")).lower()), self.runs.get(info.get("runId"), {})
        unfinished = name > max(recorded, default="") and (run.get("status") == "Running" or run.get("reason"))
        early = run and not run.get("warehouse") and self.files_of[maker]
        if name in recorded:
            self.expect(recorded[name][1] == maker, "record_inconsistent", where, "its record is of another run or model")
            known = info.get("ledgerId") == self.ledger_id and info.get("ledgerHead") in self.heads
            self.expect(known, "head_unknown", where, "it names a state of the ledger that the chain never had")
        elif self.expect(unfinished or early, "commit_unrecorded", where, f"no record has this commit of run `{maker[0]}`"):
            self.notes[f"note: {where}: {'from before commits were recorded' if early else 'its run died, gave up or is not done'}"] = None
        for each in actions:
            live.pop(f"{place}/{unquote(each.get('remove', {}).get('path', ''))}", None)
        for add in (each["add"] for each in actions if "add" in each):
            path = f"{place}/{unquote(add['path'])}"
            live[path] = self.adds[path] = (add["size"], json.loads(add["stats"])["numRecords"])
            same = self.files_of[maker].get(path, {}).get("size_bytes") == add["size"]
            self.expect(same or name not in recorded, "record_missing", where, f"no record has its file `{path}`")
        return live

    def check_execution(self, where, maker, row):
        state = self.states.get(self.place_of(maker[0], row.get("target")), {}).get(row.get("commit_version"))
        if state is not None and row.get("strategy") in WHOLE and "rows_affected" in row:
            rows, said = sum(number for _, number in state.values()), row["rows_affected"]
            self.expect(rows == said, "rows_mismatch", where, f"it says {said} rows, the log says {rows}")
        made = self.made.get((row.get("reused_from"), str(row.get("target")).lower()), ())
        reused = "reused_from" not in row or {*self.files_of[maker]} <= {*made}
        self.expect(reused, "record_inconsistent", where, "its files are not those of the run it reused")

    def check_provenance(self, where, maker, row):
        ir, execution = json.loads(row["model_ir_canonical_json"]), self.executions[maker]
        upstreams = sorted(row.get("upstreams", ()), key=lambda each: (each["upstream_key"], each["kind"]))
        inputs = {"skip_hash": row["skip_hash"], "target": ir["target"], "upstreams": upstreams, "version": 1}
        made = {"recipe_hash": row["model_ir_canonical_json"], "input_hash": canonical(inputs),
                "skip_hash": canonical({**{name: ir[name] for name in SKIP}, "reads": sorted(ir["reads"])}),
                "env_hash": row.get("env_canonical_json", ""), "sql_hash": row["executed_sql"]}
        for name, said in ((name, each.get(name)) for name in made for each in (row, execution)):
            self.expect(said in (None, "", hash_of(made[name])), "hash_mismatch", where, f"`{name}` is no hash of its parts")
        paths = row.get("output_path", [])
        named = [Path(path).stem for path in paths] == row.get("output_blake3", []) and self.written_at.keys() >= {*paths}
        self.expect(named, "record_inconsistent", where, "its outputs are no recorded files, or have other names")
        reads, identities = list(row.get("reads", ())), set()
        for read in reads:
            reads += read.get("reads", ())
            files = sorted((each["path"], each.get("blake3_hash")) for each in read.get("files", ()))
            lines = "".join(f"{digest}  {path}\n" for path, digest in files)
            identities.add(hash_of(lines) if files else read.get("identity"))
            state = self.states.get(self.place_of(maker[0], read.get("target")), {}).get(read.get("version"))
            held = [f"{Path(path).stem}\n" for path in sorted(state or ())]  # one hash a line, hashed unless it is one
            held = held[0].strip() if len(held) == 1 else hash_of("".join(held))
            self.expect(state is None or held == read["identity"], "hash_mismatch", where, f"it read another `{read['name']}`")
        known = all(each["blake3_hash"] in identities for each in upstreams if each["kind"] == "content")
        self.expect(known, "hash_mismatch", where, "an upstream is not the hash of what was read")

    def check_file(self, where, maker, row):
        place, path, facts = row["file_path"], self.local(row["file_path"], 4), (row["size_bytes"], row["blake3_hash"])
        state = self.states.get(place.rpartition("/")[0], {}).get(row["commit_version"], (place,))
        self.expect(place in state, "record_inconsistent", where, "the table had no such file at that version")
        gone = self.collected.get(place, "") > self.written_at[place]
        self.count["files collected since" if gone else "files" if path else "files in an object store, not checked"] += 1
        if gone or path is None or not self.expect(path.is_file(), "file_missing", place, "it was recorded and is gone"):
            return
        if place not in self.seen:
            data = path.read_bytes()
            self.seen[place] = (len(data), hash_of(data)), data[-4:] == b"PAR1" and footer_rows(data)
        (found, rows), said = self.seen[place], self.adds.get(place, (0, None))[1]
        if self.expect(found == facts and path.stem == facts[1], "file_changed", place, "its bytes are not as recorded"):
            self.expect(said in (None, rows), "rows_mismatch", place, f"it has {rows} rows, the log says {said}")

    def check_anchor(self, root, where):  # what the warehouse remembers of the ledger, and the ledger must still know
        path = self.local(where, 2)
        left = any(row.get("warehouse") == root and row.get("anchored") for row in self.runs.values())
        there = self.expect(not (path and left) or path.is_file(), "anchor_missing", where, "runs left it here, and it is gone")
        anchor = json.loads(path.read_text()) if path and there and path.is_file() else {"seq": 1, "head": next(iter(self.heads))}
        if self.expect(0 < anchor["seq"] <= len(self.heads), "anchor_ahead", where, "the ledger was rolled back"):
            known = self.heads.get(anchor["head"]) == anchor["seq"] and anchor.get("run_id") in {None, *self.runs}
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
    print(*audit.findings, *audit.notes, f"{len(audit.findings)} findings in {checked}", sep="\n")
    return 1 if audit.findings else 0


if __name__ == "__main__":
    sys.exit(main())

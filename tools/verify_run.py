"""Checks a state file of Rocky against its tables, without Rocky: this file, `blake3` and `ssh-keygen` will do.

    python verify_run.py STATE.db [--warehouse FOLDER] [--run RUN_ID] [--table CATALOG.SCHEMA.TABLE]
                         [--sealed FILE|FOLDER|git:REF[:PATH]] [--allowed-signers FILE] [--head HASH]

Prints a line for each finding (`code: where: what it means`) and a summary. Exit code: 0 all agrees, 1 findings, 2 the
state file or a seal cannot be read, or `blake3` is missing. What lies in an object store is not checked, unless `--warehouse` names a local copy of
it. With seals, ledger and tables must go on from each. Who may seal is in the file named, else in `allowed_signers`: that of
the same commit for `git:REF` (in the repository of the working folder), that beside STATE.db for files.
"""
import argparse
import json
import os
import re
import sqlite3
import subprocess
import sys
from collections import Counter, defaultdict
from contextlib import closing, contextmanager
from datetime import datetime, timedelta
from itertools import chain, combinations
from pathlib import Path
from tempfile import TemporaryDirectory
from time import time
from urllib.parse import unquote

try:
    from blake3 import blake3
except ModuleNotFoundError:
    sys.exit(print("verify_run.py needs the package `blake3`: pip install blake3", file=sys.stderr) or 2)

CHAIN = "evidence_chain"
RECORDS = ("run_history", "model_executions", "output_artifacts", "input_index", "input_provenance", "branches", "watermarks",
           "check_history", "partitions", "grace_periods", "loaded_files", "collected_files", "sweeps", "promotions", "erasures",
           "governance")
MODEL, REMEMBERED = (*RECORDS[1:3], "partitions", "watermarks", "input_provenance", "input_index", "grace_periods", "loaded_files"), (RECORDS[6], *RECORDS[8:11])
SWEPT, ONCE, DIED = (*RECORDS[:3], RECORDS[4], RECORDS[11]), (*RECORDS[1:3], RECORDS[4], *RECORDS[11:]), "the process ended without finishing"
SKIP = ("materialization", "normalized_sql", "normalizer_version", "target", "typed_columns")
ENDING = ("finished_at", "purpose", "totals", "budget_breaches", "check_outcomes", "anomalies", "anchored")  # what a run's record gets when it ends
WHOLE = ("full_refresh", "materialized_view", "content_addressed", "seed")  # strategies that write all rows anew
LOGGED, DAMAGED = (("blake3_hash", "json"), ("checkpoint_blake3", "checkpoint.parquet")), (LookupError, TypeError, ValueError, AttributeError, StopIteration, RecursionError)
FORM = "CREATE TABLE {} (key TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL CHECK (json_valid(value)))"
TABLE, KEY, NAMED, ABOUT = "json_extract(value, '$.table')", "json_extract(value, '$.key')", "substr(key, instr(key, '|') + 1)", "lower(json_extract(value, '$.target'))"
INDEXES = ("runs_unfinished ON run_history (key) WHERE json_extract(value, '$.reason') IS NOT NULL", "runs_running ON run_history (key) WHERE json_extract(value, '$.status') = 'Running'",
           *(f"executions_{name} ON model_executions ({of}){where}" for name, of, where in (("by_model", f"{NAMED}, key", ""), ("committed", f"{NAMED}, key", " WHERE (json_extract(value, '$.commits') IS NOT NULL OR json_extract(value, '$.adopted') IS NOT NULL)"), ("anew", ABOUT, " WHERE instr(value, '\"version\":0')"), ("checkpointed", ABOUT, " WHERE instr(value, '\"checkpoint_blake3\"')"))), "artifacts_by_hash ON output_artifacts (json_extract(value, '$.blake3_hash'))",
           f"entries_by_row ON {CHAIN} ({KEY}, {TABLE}, key) WHERE {TABLE} IN ('run_history', 'input_index', 'input_provenance')",
           f"entries_of_remembered ON {CHAIN} ({TABLE}, {KEY}, key) WHERE {TABLE} IN ('watermarks', 'partitions', 'grace_periods', 'loaded_files', 'check_history', 'branches', 'promotions')")
SCHEMA = {*map(FORM.format, (*RECORDS, CHAIN, "run_progress", "idempotency_keys", "metadata")), *(f"CREATE INDEX {each}" for each in INDEXES),
          "CREATE TABLE sqlite_stat1(tbl,idx,stat)", "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)"}
def local(place):  # nothing of an object store is at hand
    return None if "://" in place else Path(place)
def hash_of(data):
    return blake3(data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data).hexdigest()
def canonical(document):
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "backslashreplace").decode()
def thrift(stream, kind=0):  # a value of Thrift's compact protocol: of kind 0 a plain number, a struct as a dict by its fields' numbers
    if kind in (0, 4, 5, 6):
        value = ((byte := next(stream)) & 127) | (thrift(stream) << 7 if byte > 127 else 0)
        return (value >> 1) ^ -(value & 1) if kind else value
    if kind in (3, 7, 8, 9, 10):
        return bytes([next(stream) for _ in range({3: 1, 7: 8}[kind] if kind < 8 else thrift(stream))]) if kind < 9 else [thrift(stream, head & 15) for head in (next(stream),) for _ in range(head >> 4 if head >> 4 < 15 else thrift(stream))]
    found, number = {}, 0
    while kind == 12 and (head := next(stream)):
        found[number := number + (head >> 4) if head >> 4 else thrift(stream, 4)] = thrift(stream, head & 15)
    return found
def begun_as(run):  # the hashes that a run's record can have had until it ended: what it came to know was added, and nothing changed
    run = {**{key: run[key] for key in run if key not in ENDING}, "status": "Running", "models_executed": [], **({"reason": run["purpose"]} if "purpose" in run else {})}
    return {hash_of(canonical({key: run[key] for key in run if key not in left})) for left in chain.from_iterable(combinations(("commit_key", "engine", "unchanged", "reason"), size) for size in range(5))}
def examine(data):  # size and hash of a file, and its rows: field 3 of the footer of a Parquet file
    return (len(data), hash_of(data)), data[-4:] == b"PAR1" and thrift(iter(data[-8 - int.from_bytes(data[-8:-4], "little") : -8]), 12)[3]
def is_signed(key, place, name, data):  # whether the run whose key this is made a commit: its signature comes last in the first line
    line, _, others = data.partition(b"\n")
    found = re.fullmatch(rb'(\{"commitInfo":\{.*),"signature":"([A-Za-z0-9+/=]+)"\}\}', line)
    if not key or not found:
        return False
    said = f"rocky commit\n{'/'.join(str(place).split('/')[-3:])}\n{int(name[:20])}\n{hash_of(found[1] + b'}}' + chr(10).encode() + others)}\n"
    armour = "-----BEGIN SSH SIGNATURE-----\n" + "\n".join(re.findall(".{1,70}", found[2].decode())) + "\n-----END SSH SIGNATURE-----\n"
    return signed_by(f"run {key}\n", "run", "rocky-commit", armour, said)
def signed_by(signers, who, namespace, armour, said, *more):  # whether `ssh-keygen` says so, of a name in a list of allowed signers; without a list, of anybody
    if signers is not None and not (isinstance(who, str) and who):
        return False
    with TemporaryDirectory() as folder:
        (listed := Path(folder, "signers")).write_text(signers or "")
        (signature := Path(folder, "signature")).write_text(armour)
        line = ["ssh-keygen", "-Y", *(["verify", *more, "-f", listed, "-I", who] if signers is not None else ["check-novalidate"]), "-n", namespace, "-s", signature]
        return subprocess.run(line, input=said.encode(), capture_output=True, check=False).returncode == 0
def load(path):  # all rows, values as bytes: those were hashed. Without a `-wal` nobody writes, and no side files are needed
    if Path(f"{path}-journal").exists():
        raise ValueError(f"`{path}-journal` says that it is not yet what it is to be: somebody writes, or put that there")
    alone = "" if Path(f"{path}-wal").exists() else "&immutable=1"
    with closing(sqlite3.connect(f"{Path(path).resolve().as_uri()}?mode=ro{alone}", uri=True)) as file:
        file.text_factory, _ = bytes, file.execute("BEGIN")
        parts = [(*(each and each.decode("utf-8", "replace") for each in row),) for row in file.execute("SELECT type, name, sql FROM sqlite_master")]
        wrong = [f"the {kind} `{name}` is not Rocky's" for kind, name, sql in parts if sql not in SCHEMA and not (kind == "index" and sql is None)]
        wrong += [each for each in (said.decode("utf-8", "replace") for (said,) in file.execute("PRAGMA integrity_check")) if each != "ok" and not each.startswith("CHECK")]
        if wrong:  # a trigger writes when Rocky does, and an index that lacks rows hides them
            raise ValueError("; ".join(wrong[:5]))
        there = {name for _, name, _ in parts}  # files of older versions lack some
        names = [("metadata", "WHERE key = 'ledger_id'"), *((name, "") for name in (CHAIN, *RECORDS) if name in there)]
        if odd := [name for name, _ in names if file.execute(f"SELECT 1 FROM {name} WHERE typeof(key) <> 'text' OR typeof(value) <> 'text' LIMIT 1").fetchone()]:
            raise ValueError(f"`{odd[0]}` has a row that is no text, and one with the same key may lie beside it")
        asked = {**dict.fromkeys(RECORDS, ()), **{name: file.execute(f"SELECT key, value FROM {name} {only} ORDER BY key") for name, only in names}}
        return {name: {key.decode("utf-8", "replace"): value for key, value in rows} for name, rows in asked.items()}
def git(*words):
    done = subprocess.run(["git", "--no-replace-objects", "-c", "core.warnAmbiguousRefs=true", *map(str, words)], capture_output=True, check=False, env={**os.environ, "LC_ALL": "C"})
    if done.returncode or (b"is ambiguous" in done.stderr and "--verify" in words and not re.fullmatch(r"(HEAD|[0-9a-f]{40,64})\^\{commit\}", words[-1])):
        raise ValueError(f"git {' '.join(map(str, words))}: {done.stderr.decode('utf-8', 'replace').strip()}")
    return done.stdout.decode()
def find_top(folder):  # of the working tree around a folder; settings of a repository may lead to another one
    top, found = map(Path, git("-C", folder, "rev-parse", "--show-toplevel", "--absolute-git-dir").splitlines())
    led = top / (own.read_text().partition("gitdir: ")[2].strip() if (own := top / ".git").is_file() else own)
    if not folder.resolve().is_relative_to(top) or led.resolve() != found.resolve():
        raise ValueError(f"`{found}` was found from `{folder.resolve()}` and is the repository of `{top}` by its settings alone")
    return top
def find_repository():  # that of the working folder; refused if another one around it has its files, because then it was made in there later
    inner = around = find_top(Path())
    while any((each / ".git").exists() for each in around.parents):
        below, around = around, find_top(around.parent)
        if re.match(r"\d+ tree ", subprocess.run(["git", "-C", around, "ls-tree", "HEAD", "--", below.relative_to(around)], capture_output=True, text=True, check=False).stdout):
            raise ValueError(f"`{around}` has the files of `{inner}`, a repository that was made in its working tree")
    return inner
def find_seals(place, signers, beside):  # the texts of seals by name, the list of who may seal, and of which commit they are
    if place.startswith("git:"):
        ref, _, path = place[4:].partition(":")
        top, commit = find_repository(), git("rev-parse", "--verify", f"{ref}^{{commit}}").strip()
        names = git("ls-tree", "--name-only", "-z", commit, f"{path or 'seals'}/").split("\0")[:-1] or [path or "seals"]
        files = {name: git("cat-file", "blob", f"{commit}:./{name}") for name in names if name.endswith(".seal") or name == path}
        note = f"note: the seals are of `{git('rev-parse', '--symbolic-full-name', ref).strip() or ref}`, commit `{commit}`, in `{top}`"
        return files, Path(signers).read_text() if signers else git("cat-file", "blob", f"{commit}:./allowed_signers"), note
    paths = sorted(Path(place).glob("*.seal")) if Path(place).is_dir() else [Path(place)]
    is_file = {path: path.is_file() and path.stat().st_size < 1 << 26 for path in paths if path.exists()}  # a pipe would keep us waiting
    return {path.name: path.read_bytes().decode() if is_file.get(path, True) else "" for path in paths}, Path(signers or beside).read_text(), None
class Audit:
    model, step, block, early, newest, keeps = "", 0, 0, (-2, ""), 0, False
    def __init__(self, rows, warehouse=None, run_id=None, table=None):
        self.rows, self.warehouse, self.run_id, self.table = rows, warehouse and Path(warehouse).resolve(), run_id, (table or "").lower()
        self.findings, self.notes, self.heads, self.seen, self.adds, self.states, self.written_at, self.open, self.rows_hash = ({} for _ in range(9))
        self.records, self.ledger_id = {name: {} for name in RECORDS}, rows["metadata"].get("ledger_id", b"").decode("utf-8", "replace").strip('"')
        self.begun, self.closed, self.due, self.first, self.former, self.since, self.sweep, self.left, self.foreign = ({} for _ in range(9))
        self.owners, self.lost, self.gone, self.live, self.count, self.files_of, self.branches, self.before = [], set(), set(), set(), Counter(), defaultdict(dict), defaultdict(set), {}
    def expect(self, holds, code, where, message):
        return holds or self.findings.setdefault(f"{code}: {where}: {message}")
    @contextmanager
    def reading(self, where, code="record_malformed"):
        try:
            yield
        except DAMAGED as error:
            self.expect(False, code, where, f"it is not what it should be ({error!r})")
    def check(self):
        _ = self.load_records(), self.check_chain(), self.check_tables()
        for table, check in zip(RECORDS[:5], (self.check_run, self.check_execution, self.check_file, self.check_index, self.check_provenance), strict=True):
            for key, row in self.records[table].items():
                with self.reading(f"{table} {key}"):
                    maker = (row.get("run_id", key.split("|")[0]), row.get("model_name", "").lower())
                    target = row.get("target") or self.executions.get(maker, {}).get("target")
                    _ = (not self.only or maker[0] in self.only) and self.table in ("", str(target).lower()) and check(f"{table} {key}", maker, row)
        for key, row in self.records["promotions"].items():  # an approval is signed by whoever the list of its day names
            with self.reading(f"promotions {key}"):
                day = datetime.fromisoformat(row["at"]).strftime("verify-time=%Y%m%d%H%M%SZ")
                for one in row.get("approvals", []):
                    good = signed_by(one["allowed_signer"] + "\n", one["approver"], "rocky-approval", one["signature"], one["statement"], "-O", day)
                    self.expect(good, "approval_unsigned", f"promotions {key}", f"the approval `{one['approval_id']}` is not signed by `{one['approver']}`")
        _ = self.run_id is None and not self.table and self.check_erased()
        for root in self.roots:
            with self.reading(where := f"{root}/_rocky/{self.ledger_id}.json"):
                self.check_anchor(root, where)
        added = [number for number, _, owner in self.owners if 0 < self.newest < number and not self.is_ahead(owner)]
        self.expect(not added, "anchor_behind", f"{CHAIN} {min(added, default=0):012d}", f"{len(added)} entries are newer than the last run's end")
    def check_seals(self, files, signers):  # what somebody has signed of the ledger and its tables is in the past of what is there now
        for name, text in files.items():
            with self.reading(name, "seal_malformed"):
                line, _, armour = text.partition("\n")
                seal = json.loads(line)
                if not (isinstance(seal["signer"], str) and seal["signer"]):
                    raise ValueError("it names no signer")
                day = datetime.fromisoformat(seal["sealed_at"]).strftime("verify-time=%Y%m%d%H%M%SZ")
                signed, tables = signed_by(None, None, "rocky-seal", armour, f"{line}\n"), [(*map(one.get, ("warehouse", "path", "version", "commit")),) for one in seal["tables"]]
                listed = signed and signed_by(signers, seal["signer"], "rocky-seal", armour, f"{line}\n", "-O", day)
                self.expect(listed, "seal_unlisted_signer" if signed else "seal_signature", name, f"it is not signed by `{seal['signer']}` as the list has them")
                if listed and seal["branch"] and seal["ledger_id"] != self.ledger_id:
                    self.notes[f"note: {name}: it seals the branch `{seal['branch']}`, which has a ledger of its own"] = None
                elif listed:
                    head, own, self.count["seals"] = seal["head"], seal["ledger_id"] == self.ledger_id, self.count["seals"] + 1
                    goes_on = self.expect(own and self.heads.get(head["entry_hash"]) == head["seq"], "seal_head_missing", name, "the ledger was rolled back or rewritten since, or is another one")
                    for root, path, version, commit in tables:
                        place = f"{self.warehouse or root}/{path}"
                        log, anew = local(f"{place}/_delta_log/{version:020d}.json"), goes_on and self.begun.get(self.makers.get(place), 0) > head["seq"]
                        found = hash_of(log.read_bytes()) if log and log.is_file() else None
                        erased = goes_on and found and self.redact(place, {log.name: (commit, None)}, {log.name: log.read_bytes()})[log.name][0] == found
                        self.expect(not log or found == commit or anew or erased, f"seal_table_{'changed' if found else 'behind'}", log, f"`{name}` has another commit there: rolled back, removed or rewritten")
    def check_chain(self):  # every write of a record has an entry, and every entry the hash of the one before
        previous, number, newest = "0" * 64, 1, {}
        for key, value in self.rows[CHAIN].items():
            with self.reading(f"{CHAIN} {key}"):
                entry = json.loads(value)
                said = canonical({name: each for name, each in entry.items() if name != "entry_hash"})
                whole = hash_of(said) == entry["entry_hash"] and value.decode() == canonical(entry)
                whole &= (key, entry["seq"], entry["previous"]) == (f"{number:012d}", number, previous)
                self.expect(whole, "chain_broken", f"{CHAIN} {key}", "it was changed, or entries before it were, or are gone")
                previous, number, newest[entry["table"], entry["key"]] = entry["entry_hash"], entry["seq"] + 1, entry.get("value_hash")
                self.heads[previous] = entry["seq"]
                self.check_order(entry["seq"], entry["table"], entry["key"], entry.get("value_hash"))
        self.expect(("metadata", "ledger_id") in [*newest][:1], "chain_broken", CHAIN, "it does not begin with the ledger's id")
        for name, key in ((each, key) for each in (*RECORDS, "metadata") for key in self.rows[each]):
            code, said = "record_changed" if (name, key) in newest else "record_unchained", newest.pop((name, key), None)
            self.expect(said == hash_of(self.rows[name][key]), code, f"{name} {key}", "the chain has another hash of it, or none: changed by hand")
        _ = [self.expect(False, "record_missing", f"{name} {key}", "it was recorded and is gone") for (name, key), said in newest.items() if said]
    def check_order(self, number, table, key, said):  # runs begin, record each model once and at once, end, and are left alone
        place, owner, fits = (RECORDS.index(table) if table in RECORDS else -1, key), None, number == 1 or table in RECORDS
        self.early = place if self.early and place > self.early else None  # records from before the chain come first, sorted
        if table in MODEL:
            self.model, self.block = (key, number) if table == MODEL[0] else (self.model, self.block)
            owner, _, name = self.model.partition("|")
            makers = {owner, *(each.get("run_id") for each in self.executions.get((owner, name), {}).get("adopted", ()))}
            mine = {"output_artifacts": key.partition("|")[0] in makers, "input_provenance": key == self.model}.get(table, True)
            fits = mine and MODEL.index(table) >= self.step * (table != MODEL[0]) and owner in self.begun and owner not in self.closed
        elif table == "run_history" and said:  # written when it begins, before its first commit, when it knows its engine, and when it ends
            owner, run, ended = key, self.runs.get(key, {}), self.runs.get(key, {}).get("status") != "Running"
            due = ("commit_key" in run) + ("engine" in run) + ended if run.get("warehouse") else run.get("reason") == DIED if run else min(self.writes[key], 4) - 1
            left = self.due.setdefault(key, due)  # of one that is forgotten nobody knows how often it was written
            self.writes[key], same = self.writes[key] - 1, not run or self.writes[key] < 2 or said in begun_as(json.loads(self.rows[table][key]))
            self.expect(same, "record_changed", f"{table} {key}", "it was written anew after it had ended, or begun otherwise")
            fits, self.due[key], self.open[key], _ = left >= 0, left - 1, None, self.begun.setdefault(key, number)
            self.closed.update({key: self.open.pop(key) or number} if left == 0 and ended else {})
            self.keeps |= bool(run) and not run["rocky_version"].startswith("0.1.")  # which lost the row of a branch when another got its name
        elif table == "branches":  # a branch is deleted and otherwise stays, and one whose name another gets keeps its row
            same, self.before[key] = not self.keeps or self.before.get(key) in (None, *self.branches[key]), said
            self.expect(same, "record_changed", f"{table} {key}", "it was written anew and not only deleted")
        elif table in ("check_history", "promotions", "erasures"):  # a run says before it ends what it counted; a promotion, itself one, what it moved
            owner, fits = (next(reversed(self.open), None), bool(self.open)) if table[0] == "c" else (key, key in self.begun and key not in self.closed)
        removed = said is None and self.is_explained(table, key, (own := table == "grace_periods" or (table in REMEMBERED and owner in self.records["promotions"])) and fits)
        self.step, self.model = (MODEL.index(table), self.model) if table in MODEL and (said or own) else (len(MODEL), "")
        sweep = self.records["sweeps"].get(key, {}) if table == "sweeps" else {}
        self.sweep, self.left = ({**sweep, "runs": {*sweep.get("runs", ())}}, {**sweep.get("removed", {})}) if said else (self.sweep, self.left)
        self.expect(fits or removed or self.early, "chain_broken", f"{CHAIN} {number:012d}", f"no run wrote `{table} {key}` here: put in by hand")
        value, at = self.first.setdefault((table, key), (said, self.block))
        same = said and (table not in ONCE or value == said or (table == "output_artifacts" and at == self.block)) and (table, key) not in self.gone
        self.expect(same or removed, "record_changed", f"{table} {key}", "it was written again, or removed")
        self.owners.append((number, table if said else "sweeps", owner if said or own else None))
    def is_explained(self, table, key, own):  # removed by a sweep that says so, a watermark on demand, what a model ends or a promotion replaces
        left, run_id, sweep = self.left.get(table, 0), key.partition("|")[0], {"at": "", "cutoff": "", **self.sweep}
        begun, cutoff, at = ("".join(filter(str.isdigit, each))[:17] for each in (run_id, sweep["cutoff"], sweep["at"]))  # to the millisecond
        swept = left > 0 and table in SWEPT and begun < cutoff <= at and (table == "collected_files" or run_id in sweep.get("runs", ()))
        _, self.left[table] = self.gone.update({(table, key)} if swept else ()), left - 1
        return swept or table == "watermarks" or own
    def is_ahead(self, owner):  # whether a run could write what the newest anchor does not cover
        run, saw_begin = self.runs.get(owner, {}), self.begun.get(owner, 0) <= self.newest
        free = saw_begin or run.get("status") == "Running" or "reason" in run or not run.get("anchored")
        return owner and free and self.closed.get(owner, self.newest + 1) > self.newest
    def now(self, path):  # where a recorded file is
        return "/".join([str(self.warehouse), *path.split("/")[-4:]]) if self.warehouse else path
    def load_records(self):
        for name, key in ((each, key) for each in RECORDS for key in self.rows[each]):
            with self.reading(f"{name} {key}"):
                row = self.records[name][key] = {} if name == "check_history" else dict(json.loads(self.rows[name][key]))
                row |= {"warehouse": str(self.warehouse or row["warehouse"])} if "warehouse" in row else {}
                row |= {"file_path": (path := self.now(row["file_path"]))} if "file_path" in row else {}
                if name == "output_artifacts":
                    self.files_of[row["run_id"], row["model_name"].lower()][path] = row
                    self.written_at[path] = max(row["written_at"], self.written_at.get(path, ""))
        self.writes = Counter(value[88:111].decode("utf-8", "replace") for value in self.rows[CHAIN].values() if b'"table":"run_history","value_hash"' in value)
        for key, row in self.rows["branches"].items():  # as it is, and as it was until it was deleted
            with self.reading(f"branches {key}"):
                opened = {name: each for name, each in json.loads(row).items() if name not in ("deleted_at", "deleted_by")} | {"status": "open"}
                _ = [self.branches[name].update((hash_of(row), hash_of(canonical(opened)))) for name in (key, opened["name"].lower())]
        self.runs, self.count["records"] = self.records["run_history"], sum(map(len, self.records.values()))
        self.executions = {tuple(key.split("|", 1)): row for key, row in self.records["model_executions"].items()}
        rows, self.models = self.records["input_provenance"].values(), Counter(run_id for run_id, _ in self.executions)
        self.made = {(row.get("run_id"), str(row.get("target")).lower()): {*map(self.now, row.get("output_path", ()))} for row in rows}
        self.only = self.run_id and (self.run_id, self.runs.get(self.run_id, {}).get("unchanged_since"))  # where nothing had changed, the run that looked
        self.collected = {row["file_path"]: row["collected_at"] for row in self.records["collected_files"].values()}
        self.forgotten = {run_id for row in self.records["sweeps"].values() for run_id in row.get("runs", ())} - {*self.runs}
        self.roots = sorted({row["warehouse"] for row in self.runs.values() if row.get("warehouse")})
        self.there = [log.parent.as_posix() for root in self.roots if local(root) for log in Path(root).glob("*/*/*/_delta_log")]
        places = (place.rsplit("/", 3) for place in {*self.there, *(path.rpartition("/")[0] for path in self.written_at)})
        self.named = {(root, ".".join(parts)): "/".join([root, *parts]) for root, *parts in places}  # a part may have a dot in it
    def check_run(self, where, maker, run):
        done = [self.executions.get((maker[0], each["model_name"].lower())) for each in run["models_executed"]]
        self.expect((done == run["models_executed"] and len(done) == self.models[maker[0]]) or run["status"] == "Running", "record_inconsistent", where, "its models are not as recorded")
        if "unchanged_since" in run and run["status"] == "Success":  # it goes by what another found, which looked itself, within a day, found all as it was, and wrote its tables before nobody else did
            looked = self.runs.get(run["unchanged_since"], {})
            models = {str(each.get("target")).lower(): each for each in looked.get("models_executed", ())}
            left = all(not {"commits", "adopted", "metrics"} & {*each} and (each["status"] == "reused" or (each["status"], each.get("decision")) == ("success", "skip")) for each in models.values())
            wrote = {row.get("target", "").lower() for (each, _), row in self.executions.items() if run["unchanged_since"] < each < maker[0] and row.get("commits") and self.runs.get(each, {}).get("warehouse") == run["warehouse"]}
            same = all(run.get(name) == looked.get(name) for name in ("warehouse", "config_hash", "pipeline")) and not {"plan_id", "started_anew"} & {*run} and not run.get("full_refresh")
            apart = datetime.fromisoformat(run["started_at"]) - datetime.fromisoformat(looked.get("started_at", run["started_at"]))
            soon = looked and timedelta() <= apart < timedelta(days=1) and run.get("fence", 1) > looked.get("fence", 0)
            fits = soon and left and same and not wrote & {*models} and looked["status"] == "Success" and "unchanged_since" not in looked
            self.expect(fits, "record_inconsistent", where, "it says that nothing had changed since a run that it cannot go by")
    def place_of(self, run_id, target):
        return self.named.get((root := self.runs.get(run_id, {}).get("warehouse"), target)) or f"{root}/{str(target).replace('.', '/', 2)}"
    def state(self, run_id, place, version):  # a table at a version; nothing of one that was dropped and made again since
        return None if run_id < self.since.get(place, "") else self.states.get(place, {}).get(version)
    def check_tables(self):
        tables, repeated = defaultdict(dict, {place: {} for place in self.there if self.run_id is None and not self.table}), defaultdict(list)
        for (run_id, model), row in self.executions.items():
            with self.reading(f"model_executions {run_id}|{model}"):
                place = self.place_of(run_id, row["target"])
                for one in row.get("adopted", []) + row.get("commits", []):
                    name, maker = f"{one['version']:020d}", (one.get("run_id", run_id), one.get("model_name", model).lower())
                    if one["version"] == 0 and tables[place].get(f"{name}.json", (one["blake3_hash"],))[0] != one["blake3_hash"]:
                        self.former[place], _ = (run_id, {**self.former.get(place, (0, {}))[1], **tables.pop(place)}), repeated.pop(place, None)
                        self.foreign = {key: each for key, each in self.foreign.items() if key[0] != place}
                    said, known = {f"{name}.{end}": (one[each], maker) for each, end in LOGGED if each in one}, self.foreign.get((place, f"{name}.json"))
                    if f"{name}.json" in tables[place]:  # what was recorded first of a version holds: what somebody puts on top explains nothing
                        same = (said, one.get("foreign")) == ({each: tables[place][each] for each in tables[place] if each.startswith(name)}, known)
                        repeated[place] += [] if same else [(name, run_id)]
                        continue
                    self.foreign.update({(place, f"{name}.json"): one["foreign"]} if "foreign" in one else {})
                    tables[place].update(said)
        self.makers = {place: recorded[name][1][0] for name in (f"{0:020d}.json",) for place, recorded in tables.items() if name in recorded}
        for place, recorded in sorted(tables.items()):
            makers = {maker[0] for _, maker in (*recorded.values(), *self.former.get(place, (0, {}))[1].values())}
            if (not self.only or {*makers} & {*self.only}) and f".{place}".replace("/", ".").lower().endswith(self.table and f".{self.table}"):
                _ = [self.expect(False, "record_inconsistent", f"{place}/_delta_log/{name}.json", f"`{again}` recorded a version that was recorded otherwise") for name, again in repeated[place]]
                self.check_log(place, f"{place}/_delta_log", recorded)
    def leave_former(self, place, files, recorded):  # a table that was dropped is gone as a whole, or it was tampered with
        since, said = self.former[place]
        below = {(path, maker[0] < since) for maker in self.files_of for path in self.files_of[maker] if path.startswith(f"{place}/")}
        lost = {path for path, old in below if old and (path, False) not in below}
        kept = {*map(hash_of, files.values())} & ({each for each, _ in said.values()} - {each for each, _ in recorded.values()})
        gone = self.expect(not kept and not any(Path(each).exists() for each in lost), "commit_missing", place, "some of it is gone")
        self.since[place], self.lost = since, self.lost | (lost if gone else set())
        self.notes.update({f"note: {place}: it was dropped, and made again by `{since}`": None} if gone else {})
    def redactions(self, place):  # what certificates say that became of commits, and which checkpoints they removed, oldest first
        for table in (each for _, row in sorted(self.records["erasures"].items()) for each in row.get("tables", ())):
            root, target = str(self.warehouse or table["warehouse"]), table["target"]
            if (self.named.get((root, target)) or f"{root}/{target.replace('.', '/', 2)}") == place:
                yield from ((f"{one['version']:020d}.json", one["before"], one["after"]) for one in table.get("commits", ()))
                yield from ((f"{one['version']:020d}.checkpoint.parquet", one["blake3_hash"], None) for one in table.get("checkpoints", ()))
    def redact(self, place, recorded, files):  # a log as certificates leave it: without statistics of erased files
        became = dict(recorded)
        for name, before, after in self.redactions(place):
            if became.get(name, (0,))[0] == before and (after is not None or name not in files):
                became.update({name: (after, became[name][1])} if after else {})
                _ = after or became.pop(name)
        return {name: said if name not in files or hash_of(files[name]) == said[0] else recorded[name] for name, said in became.items()}
    def check_log(self, place, log, recorded):  # every file of a log was recorded, and every recorded one is there
        folder, live, states, broken = local(log), {}, {}, False
        self.count["tables" if folder else "tables in an object store, not checked"] += 1
        if not folder:
            return
        found = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
        files = {name: path.read_bytes() for name, path in found.items() if "#" not in name}  # a killed writer leaves `x#1`
        _ = place in self.former and self.leave_former(place, files, recorded)
        for name, before, _ in self.redactions(place) if self.run_id is None and not self.table else ():
            self.expect(hash_of(files.get(name, b"")) != before, "erased_file_present", f"{log}/{name}", "a certificate says that its statistics are gone")
        recorded = self.redact(place, recorded, files)
        unrecorded = {*files} - {*recorded, "_last_checkpoint"}
        for name in sorted({*files, *recorded}):
            where, data = f"{log}/{name}", files.get(name)
            if name in recorded and (data is None or hash_of(data) != recorded[name][0]):
                broken = not self.expect(False, f"commit_{'missing' if data is None else 'changed'}", where, "it is not as recorded, or gone")
            elif name[:20].isdigit() and name[20:] == ".json":
                with self.reading(where):
                    self.expect(broken or int(name[:20]) == len(states), "commit_missing", where, "the one before it is gone")
                    live = states[int(name[:20])] = self.replay(where, place, data, recorded, live)
            elif name in unrecorded:
                self.expect(False, "log_file_unknown", where, "no record has it: remove it; what readers miss is read from the commits")
        newest, hint = max((name for name in recorded if name.endswith("t")), default="-1"), f"{log}/_last_checkpoint"
        with self.reading(hint):
            data, said, number = files.get(newest, b""), json.loads(files.get("_last_checkpoint", b"{}")), int(newest[:20])
            facts = {"version": number, "size": data and examine(data)[1], "sizeInBytes": len(data), "numOfAddFiles": len(states.get(number, ()))}
            same = ("version" in said) == (newest in recorded) and all(facts.get(key, each) == each for key, each in said.items())
            unsaid = newest in recorded and "no checkpoint" in self.executions.get(recorded[newest][1], {"action": "no checkpoint"}).get("action", "")
            self.expect(same or broken or unrecorded or unsaid, "commit_changed", hint, "it tells of another checkpoint")
        self.states[place] = {} if broken else states
        self.live |= {*live} if not broken else set()
    def replay(self, where, place, data, recorded, live):  # the files of a table after a commit, with size and rows
        name, actions = where[-25:], [json.loads(line) for line in data.splitlines()]
        info = next((each["commitInfo"] for each in actions if "commitInfo" in each), {})
        maker, run = (info.get("runId"), str(info.get("model")).lower()), self.runs.get(info.get("runId"), {})
        settled = {each for key, one in self.records["promotions"].items() for each in (key, one.get("recovers"))}  # what such a run committed is recorded with it
        unfinished = name > max(recorded, default="") and maker[0] not in settled and (run.get("status") == "Running" or run.get("reason")) and is_signed(run.get("commit_key"), place, name, data)
        early = run and not run.get("warehouse") and self.files_of[maker]
        self.expect(maker[0] not in self.forgotten, "record_missing", f"run_history {maker[0]}", f"a sweep forgot it, and none forgets a run that left something in a table: {where}")
        decided = self.foreign.get((place, name))  # no run made it, and somebody has accepted or rejected it
        if decided:
            maker, self.notes[f"note: {where}: no run made it, and it was {decided} by `{recorded[name][1][0]}`"] = recorded[name][1], None
        elif name in recorded:
            said = (info.get("ledgerId"), info.get("ledgerHead") in self.heads)  # a run that could not fetch its state vouches for none
            self.expect(said == (self.ledger_id, True) or (run.get("unvouched") and "ledgerHead" not in info), "head_unknown", where, "it names a state of the ledger that the chain never had")
            self.expect(recorded[name][1] == maker, "record_inconsistent", where, "its record is of another run or model")
        elif self.expect(unfinished or early, "foreign_commit", where, f"no record has this commit, and no run that died has signed it: `{maker[0]}`"):
            self.notes[f"note: {where}: {'from before commits were recorded' if early else 'its run died, gave up or is not done'}"] = None
        removed, before = {f"{place}/{unquote(each['remove']['path'])}" for each in actions if "remove" in each}, sum(number for _, number in live.values())
        live = {path: each for path, each in live.items() if path not in removed}
        for add in (each["add"] for each in actions if "add" in each):
            path = f"{place}/{unquote(add['path'])}"
            live[path] = self.adds[path] = (add["size"], json.loads(add["stats"])["numRecords"])
            same = name not in recorded or decided == "rejected" or self.files_of[maker].get(path, {}).get("size_bytes") == add["size"]
            self.expect(same, "record_missing", where, f"no record has its file `{path}`")
        told = next((hashed for each in reversed(actions) if (hashed := (each.get("metaData", {}).get("configuration") or {}).get("rocky.filesHash"))), None)
        known, self.rows_hash[place] = self.rows_hash.get(place), next((each["metaData"].get("configuration", {}).get("rocky.rowsHash") for each in reversed(actions) if "metaData" in each), self.rows_hash.get(place))
        quiet = any((each.get("add") or each.get("remove") or {}).get("dataChange") is False for each in actions)  # compacted: as many rows, of the same hash
        self.expect(not quiet or (before, known) == (sum(number for _, number in live.values()), self.rows_hash[place]), "rows_mismatch", where, "it says that it changed no row, and the table has other rows after it")
        held = hash_of("".join(f"{name}\n" for name in sorted(path[len(place) + 1 :] for path in live)))
        self.expect(decided or not int(name[:20]) or "runId" not in info or told in (None, held), "commit_changed", where, "the table has other files after it than it says: commits before it were altered when it was made")
        return live
    def check_execution(self, where, maker, row):
        state = self.state(maker[0], self.place_of(maker[0], row.get("target")), row.get("commit_version"))
        rows = sum(number for _, number in state.values()) if state is not None and row.get("strategy") in WHOLE else row.get("rows_affected")
        self.expect(row.get("rows_affected", rows) == rows and maker[0] in self.runs, "rows_mismatch", where, f"the log says {rows} rows, or its run is gone")
        made = self.made.get((row.get("reused_from"), str(row.get("target")).lower()), set()) if "reused_from" in row else {*self.files_of[maker]}
        self.expect(made >= {*self.files_of[maker]}, "record_inconsistent", where, "its files are not those of the run it reused")
    def check_provenance(self, where, maker, row):
        ir, execution = json.loads(row["model_ir_canonical_json"]), self.executions[maker]
        upstreams = sorted(row.get("upstreams", ()), key=lambda each: (each["upstream_key"], each["kind"]))
        inputs = {"skip_hash": row["skip_hash"], "target": ir["target"], "upstreams": upstreams, "version": 1}
        made = {"recipe_hash": row["model_ir_canonical_json"], "input_hash": canonical(inputs), "env_hash": row.get("env_canonical_json", ""),
                "skip_hash": canonical({**{name: ir[name] for name in SKIP}, "reads": sorted(ir["reads"])}), "sql_hash": row["executed_sql"]}
        for name, said in ((name, each.get(name)) for name in made for each in (row, execution)):
            self.expect(said in (None, "", hash_of(made[name])), "hash_mismatch", where, f"`{name}` is no hash of its parts")
        paths = [*map(self.now, row.get("output_path", ()))]
        self.expect([Path(path).stem for path in paths] == row.get("output_blake3", []) and self.written_at.keys() >= {*paths}, "record_inconsistent",
                    where, "its outputs are no recorded files, or have other names")
        reads, identities = list(row.get("reads", ())), set()
        for read in reads:
            reads += read.get("reads", ())
            files = sorted((each["path"], each.get("blake3_hash")) for each in read.get("files", ()))
            identities.add(hash_of("".join(f"{digest}  {path}\n" for path, digest in files)) if files else read.get("identity"))
            state = self.state(maker[0], self.place_of(maker[0], read.get("target")), read.get("version"))
            held = "".join(f"{Path(path).stem}\n" for path in sorted(state or ()))  # one hash a line, hashed unless it is one
            held = held[:-1] if len(held) == 65 else hash_of(held)
            self.expect(state is None or held == read["identity"], "hash_mismatch", where, f"it read another `{read['name']}`")
        known = identities >= {each["blake3_hash"] for each in upstreams if each["kind"] == "content"}
        self.expect(known, "hash_mismatch", where, "an upstream is not the hash of what was read")
    def check_index(self, where, maker, row):
        held = self.state(maker[0], self.place_of(maker[0], row["target"]), row["commit_version"])
        same = held is None or sorted(Path(path).stem for path in held) == sorted(row.get("output_blake3", ()))
        self.expect(same, "record_inconsistent", where, "its outputs are not what the table had at that version")
    def check_file(self, where, maker, row):
        place, path, facts = row["file_path"], local(row["file_path"]), (row["size_bytes"], row["blake3_hash"])
        state = self.state(maker[0], place.rpartition("/")[0], row["commit_version"])
        self.expect(state is None or place in state, "record_inconsistent", where, "the table had no such file at that version")
        at, dropped = self.collected.get(place, ""), place in self.lost
        gone = dropped or (at > self.written_at[place] and not (path and path.is_file()) and place not in self.live)  # one that is there, or in use, counts
        self.expect(not at or datetime.fromisoformat(at).timestamp() < time() + 600, "record_inconsistent", where, "it is collected in times to come")
        self.count["files collected since" if gone else "files" if path else "files in an object store, not checked"] += 1
        if not gone and path and self.expect(path.is_file(), "file_missing", place, "it was recorded and is gone"):
            self.seen[place] = self.seen.get(place) or examine(path.read_bytes())
            found, rows, said = *self.seen[place], self.adds.get(place, (0, None))[1]
            if self.expect(found == facts and path.stem == facts[1], "file_changed", place, "its bytes are not as recorded"):
                self.expect(said in (None, rows), "rows_mismatch", place, f"it has {rows} rows, the log says {said}")
    def check_erased(self):  # what a certificate says is gone must be, unless a run has written it again
        for key, row in self.records["erasures"].items():
            for path in (self.now(file["file_path"]) for table in row.get("tables", ()) for file in table.get("files", ())):
                there = local(path) and local(path).is_file() and not self.written_at.get(path, "") > row["erased_at"]
                self.expect(not there, "erased_file_present", path, f"the certificate of `{key}` says that it is gone")
    def check_anchor(self, root, where):  # what the warehouse remembers of the ledger, and the ledger must still know
        path, left = local(where), any(row.get("warehouse") == root and row.get("anchored") for row in self.runs.values())
        there = self.expect(not (path and left) or path.is_file(), "anchor_missing", where, "runs left it here, and it is gone")
        anchor, ever = json.loads(path.read_text() if path and there and path.is_file() else '{"seq": 0, "run_id": 0}'), "9999-01-01T00:00:00Z"
        seq, name, run = anchor["seq"], anchor["run_id"], self.runs.get(anchor["run_id"], {"started_at": ever})
        if name != 0 and self.expect(0 < seq <= len(self.heads), "anchor_ahead", where, "the ledger was rolled back"):
            self.newest, since = max(self.newest, seq), range(self.closed.get(name, seq) + 1, seq + 1)
            at, began, ended = map(datetime.fromisoformat, (anchor["recorded_at"], run["started_at"], run.get("finished_at", ever)))
            late = (at - ended).total_seconds() > 600 or any(self.begun[each] in since and end in since for each, end in self.closed.items())
            kept_up = any(number in since for number, table, _ in self.owners if table in ("collected_files", "sweeps", "branches", "governance"))  # names the newest run
            own = (kept_up or not late) and at >= began and self.begun[name] <= seq
            self.expect(own and self.heads.get(anchor["head"]) == seq, "head_unknown", where, "the chain never had this head, or not then")
def main(arguments=None):
    parser = argparse.ArgumentParser(description="Check a state file of Rocky against its tables.")
    _ = [parser.add_argument(option) for option in ("state", "--warehouse", "--run", "--table", "--sealed", "--allowed-signers", "--head")]
    asked = parser.parse_args(arguments)
    try:
        audit = Audit(load(asked.state), asked.warehouse, asked.run, asked.table)
        files, signers, note = find_seals(asked.sealed, asked.allowed_signers, Path(asked.state).with_name("allowed_signers")) if asked.sealed else ({}, "", None)
    except (sqlite3.Error, OSError, ValueError, subprocess.CalledProcessError) as error:
        return print(f"cannot read `{asked.state}`{' or its seals' if asked.sealed else ''}: {error}", file=sys.stderr) or 2
    if asked.sealed and not files:
        return print(f"there is no seal in `{asked.sealed}`", file=sys.stderr) or 2
    known = not audit.table or f'"target":"{audit.table}"'.encode() in b"".join(audit.rows["model_executions"].values()).lower()
    if not known or (asked.run or "") not in (*audit.rows["run_history"], ""):
        return print(f"`{asked.state}` knows no run `{asked.run}` or no table `{asked.table}`", file=sys.stderr) or 2
    _ = audit.check(), audit.check_seals(files, signers), audit.notes.update({note: None} if note else {})
    if asked.sealed and not audit.count["seals"] and not any(each.startswith("seal_") for each in audit.findings):
        return print(f"there is no seal of this ledger in `{asked.sealed}`: all are of branches", file=sys.stderr) or 2
    audit.expect(asked.head is None or asked.head in audit.heads, "head_unknown", f"head {asked.head}", "the ledger was rolled back or rewritten since it was noted, or is another one")
    checked = ", ".join(f"{number} {what}" for what, number in audit.count.items())
    return print(*audit.findings, *audit.notes, f"{len(audit.findings)} findings in {checked}", sep="\n") or int(bool(audit.findings))
if __name__ == "__main__":
    sys.exit(main())

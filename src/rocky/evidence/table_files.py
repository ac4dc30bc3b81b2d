"""The files of tables, checked byte for byte: commits in the log and data files.

Every file in a log was recorded and none is gone. Commits of a run that died before it could record
them come last, until the next run adopts them; commits from before commits were recorded have runs
that do not say where their warehouse was. Anything else that nobody recorded was made by somebody
else.
"""

import os
import re
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from blake3 import blake3

from rocky.evidence.chain import Chain
from rocky.evidence.checkpoints import check_checkpoints
from rocky.evidence.erasures import Certificates
from rocky.evidence.findings import FindingCode, Findings
from rocky.evidence.records import LedgerRecords, Maker, TablePlace
from rocky.evidence.tables import PARQUET_SUFFIX, ExpectedTable, LiveFile, TableHistory
from rocky.ledger.run_records import RunRecord, RunStatus
from rocky.store.data_file import name_of
from rocky.store.delta.actions import Action, parse_add, parse_commit, parse_path
from rocky.store.delta.log import LOG_FOLDER
from rocky.store.delta.signature import is_commit_signed
from rocky.store.delta.snapshot import ROWS_HASH, has_other_files
from rocky.store.objects import Objects, open_object

_COMMIT: Final = re.compile(r"(\d{20})\.json")
_DAMAGED: Final = (ValueError, KeyError, TypeError, AttributeError)


class LogChecker:
    """Checks the logs of tables against one ledger."""

    def __init__(
        self, recorded: LedgerRecords, chain: Chain, ledger_id: str | None, findings: Findings
    ) -> None:
        self._recorded = recorded
        self._chain = chain
        self._ledger_id = ledger_id
        self._findings = findings
        forgotten = {run_id for sweep in recorded.sweeps.values() for run_id in sweep.runs}
        self._forgotten = forgotten - recorded.runs.keys()
        self._certificates = Certificates(recorded)

    def check(
        self, place: TablePlace, expected: ExpectedTable, files: Mapping[str, bytes]
    ) -> TableHistory:
        """What a log says, from the bytes of its files by name; nothing if it was tampered with."""
        self._findings.checked["tables"] += 1
        self._report_repeated(place, expected)
        found = {int(name[:20]): name for name in files if _COMMIT.fullmatch(name)}
        states: dict[int, dict[str, LiveFile]] = {}
        rows: dict[str, int] = {}
        live: dict[str, LiveFile] = {}
        whole, rows_hash = True, None
        # Where there is a gap its first version is missed: a file of a very high one may lie there.
        known = {*found, *expected.commits}
        gaps = {version - 1 for version in known if version > 0} - known
        for version in sorted(known | gaps):
            data = files.get(found.get(version, ""))
            actions = self._trusted(place, expected, version, data)
            whole = whole and actions is not None
            if actions is None:
                continue
            added = self._added(place, expected, version, actions)
            removed, before = _removed(actions), live
            live = {path: file for path, file in live.items() if path not in removed} | added
            said = _rows_hash(actions, rows_hash)
            if whole:
                self._check_files_hash(place, expected, version, actions, live)
                self._check_compaction(place, version, actions, (before, live), said == rows_hash)
            rows_hash = said
            rows.update({path: file.rows for path, file in added.items()})
            states[version] = live
        unrecorded = set(found) - set(expected.commits)
        history = TableHistory(states, rows) if whole else TableHistory()
        kept = self._certificates.without_removed(place, expected, files)
        check_checkpoints(place, kept, files, (unrecorded, history), self._findings)
        return history

    def _check_files_hash(
        self,
        place: TablePlace,
        expected: ExpectedTable,
        version: int,
        actions: list[Action],
        live: Mapping[str, LiveFile],
    ) -> None:
        """Whether the table has the files after a commit that the commit says it has."""
        said = expected.commits.get(version)
        self._findings.expect(
            version == 0
            or (said is not None and said.record.foreign is not None)
            or not has_other_files(actions, live),
            FindingCode.COMMIT_CHANGED,
            place.place(f"{LOG_FOLDER}/{version:020d}.json"),
            "the table has other files after it than it says: commits before it were altered when"
            " it was made, and put back",
        )

    def _check_compaction(
        self,
        place: TablePlace,
        version: int,
        actions: list[Action],
        states: tuple[Mapping[str, LiveFile], Mapping[str, LiveFile]],
        same_hash: bool,  # noqa: FBT001 - one of two answers
    ) -> None:
        """Whether a commit that says it changed no rows has left as many, of the same hash."""
        said = [each.get("add") or each.get("remove") for each in actions]
        if not any(each is not None and each.get("dataChange") is False for each in said):
            return
        before, after = (sum(file.rows for file in state.values()) for state in states)
        self._findings.expect(
            before == after and same_hash,
            FindingCode.ROWS_MISMATCH,
            place.place(f"{LOG_FOLDER}/{version:020d}.json"),
            "it says that it changed no row, and the table had"
            f" {before} rows before it and {after} after it, or others",
        )

    def _trusted(
        self, place: TablePlace, expected: ExpectedTable, version: int, data: bytes | None
    ) -> list[Action] | None:
        """The actions of a commit that is what was recorded, or that nobody has recorded yet."""
        where = place.place(f"{LOG_FOLDER}/{version:020d}.json")
        said = expected.commits.get(version)
        if data is None:
            why = "the commit is gone from the log"
            self._findings.add(FindingCode.COMMIT_MISSING, where, why)
            return None
        now = blake3(data).hexdigest()
        if said is not None and now != said.record.blake3_hash:
            by = self._certificates.explain_commit(place, version, said.record.blake3_hash, now)
            if by is not None:
                self._findings.note(
                    f"{where}: statistics of erased files were taken out of it, by the certificate"
                    f" of `{by}`"
                )
                said = said._replace(record=replace(said.record, blake3_hash=now))
        if said is not None and now != said.record.blake3_hash:
            why = "the commit is not the one that was recorded: the table was changed by hand"
            self._findings.add(FindingCode.COMMIT_CHANGED, where, why)
            return None
        self._findings.checked["commits"] += 1
        try:
            actions = parse_commit(data)
            info, _ = _info_of(actions), _removed(actions)
        except _DAMAGED as error:
            why = f"the commit cannot be read ({error})"
            self._findings.add(FindingCode.FOREIGN_COMMIT, where, why)
            return None
        self._refuse_forgotten(where, info)
        if said is not None and said.record.foreign is not None:
            decided = f"was {said.record.foreign} by run `{said.maker[0]}`"
            self._findings.note(f"{where}: no run made it, and it {decided}")
        elif said is not None:
            self._check_info(where, info, said.maker)
        else:
            last = version > max(expected.commits, default=-1)
            key = self._commit_key(info) if last else None
            signed = is_commit_signed(key, place.prefix, version, data)
            self._explain(where, info, signed=signed)
        return actions

    def _report_repeated(self, place: TablePlace, expected: ExpectedTable) -> None:
        for again in expected.repeated:
            version = again.record.version
            first = expected.commits[version].maker[0]
            self._findings.add(
                FindingCode.RECORD_INCONSISTENT,
                place.place(f"{LOG_FOLDER}/{version:020d}.json"),
                f"run `{first}` recorded this version, and `{again.maker[0]}` recorded it"
                " otherwise: the table was rolled back, or somebody put the second record there",
            )

    def _refuse_forgotten(self, where: str, info: Mapping[str, Any]) -> None:
        """Report a commit whose run a sweep has forgotten: it forgets none that left something."""
        run_id = str(info.get("runId"))
        self._findings.expect(
            run_id not in self._forgotten,
            FindingCode.RECORD_MISSING,
            f"run_history {run_id}",
            f"a sweep says that it forgot the run, which made {where}: no sweep forgets a run that"
            " left something in a table",
        )

    def _check_info(self, where: str, info: Mapping[str, Any], maker: Maker) -> None:
        self._findings.expect(
            _maker_of(info) == maker,
            FindingCode.RECORD_INCONSISTENT,
            where,
            f"it says that `{_maker_of(info)[0]}` made it for `{_maker_of(info)[1]}`,"
            f" its record says `{maker[0]}` for `{maker[1]}`",
        )
        run = self._recorded.runs.get(maker[0])
        if run is not None and run.unvouched and not info.keys() & {"ledgerId", "ledgerHead"}:
            why = "could not reach the remote state, so no record proves the commit"
            self._findings.note(f"{where}: made by `{run.run_id}`, which {why}")
            return
        known = info.get("ledgerId") == self._ledger_id and self._chain.has(info.get("ledgerHead"))
        self._findings.expect(
            known,
            FindingCode.HEAD_UNKNOWN,
            where,
            "the commit names a state of the ledger that the chain never had: the ledger was"
            " replaced or rewritten",
        )

    def _commit_key(self, info: Mapping[str, Any]) -> str | None:
        """The key of the run that a commit names, if that run may lack a record of it."""
        run = self._recorded.runs.get(str(info.get("runId")))
        if run is None or run.run_id in self._recorded.settled_runs or not _may_lack_record(run):
            return None
        return run.commit_key

    def _explain(self, where: str, info: Mapping[str, Any], *, signed: bool) -> None:
        """Say of an unrecorded commit whether that can be: `signed` by a run that did not end."""
        run = self._recorded.runs.get(str(info.get("runId")))
        if run is not None and run.warehouse is None and _maker_of(info) in self._recorded.files:
            self._findings.note(f"{where}: made by `{run.run_id}`, before commits were recorded")
        elif run is not None and signed:
            how = "has not ended" if run.reason is None else "died" if run.died else "gave up"
            self._findings.note(
                f"{where}: made by `{run.run_id}`, which {how}; the model's next run records it"
            )
        else:
            self._findings.add(FindingCode.FOREIGN_COMMIT, where, self._blame(info))

    def _blame(self, info: Mapping[str, Any]) -> str:
        """What an unrecorded commit says of where it comes from."""
        if info.get("runId") is None:
            return "no record has this commit: another tool changed the table"
        ledger = info.get("ledgerId")
        if ledger not in (None, self._ledger_id):
            return (
                f"run `{info['runId']}` made this commit under another ledger, `{ledger}`:"
                " this state file took the place of that one"
            )
        return (
            f"no record has this commit of run `{info['runId']}`, and no run that died has signed"
            " it: the ledger was rolled back to before it, or somebody made it look like a run's"
        )

    def _added(
        self, place: TablePlace, expected: ExpectedTable, version: int, actions: list[Action]
    ) -> dict[str, LiveFile]:
        """The files that a commit adds; a recorded commit adds only recorded ones."""
        where = place.place(f"{LOG_FOLDER}/{version:020d}.json")
        said = expected.commits.get(version)
        decided = said.record.foreign if said is not None else None
        maker = _maker_of(_info_of(actions)) if said is None or decided is None else said.maker
        recorded = self._recorded.files.get(maker, {})
        added: dict[str, LiveFile] = {}
        for action in actions:
            if not action.get("add"):
                continue
            try:
                file = parse_add(action["add"])
            except _DAMAGED as error:
                why = f"an action cannot be read ({error})"
                self._findings.add(FindingCode.FOREIGN_COMMIT, where, why)
                continue
            added[file.name] = LiveFile(file.size, file.rows)
            if said is not None and decided != "rejected":
                record = recorded.get(self._recorded.places.data_file(place, file.path))
                self._findings.expect(
                    record is not None and record.size_bytes == file.size,
                    FindingCode.RECORD_MISSING,
                    where,
                    f"it adds `{file.path}` of {file.size} bytes, which no record of its run has",
                )
        return added


def _info_of(actions: list[Action]) -> Mapping[str, Any]:
    return dict(next((each["commitInfo"] for each in actions if each.get("commitInfo")), {}))


def _rows_hash(actions: list[Action], before: str | None) -> str | None:
    """The hash of the table's rows that a commit says, or else the one `before` it."""
    said = [each["metaData"] for each in actions if each.get("metaData")]
    if not said:
        return before
    found = dict(said[-1].get("configuration") or {}).get(ROWS_HASH)
    return None if found is None else str(found)


def _maker_of(info: Mapping[str, Any]) -> Maker:
    return str(info.get("runId")), str(info.get("model")).lower()


def _removed(actions: list[Action]) -> set[str]:
    return {name_of(parse_path(each["remove"])) for each in actions if each.get("remove")}


def _may_lack_record(run: RunRecord) -> bool:
    """Whether a run may have made a commit that it did not come to record."""
    return run.reason is not None or run.status is RunStatus.RUNNING


_CHUNK: Final = 8 * 1024 * 1024


class ExpectedFile(NamedTuple):
    """A file that was recorded: where it lies below the warehouse, and what it should be.

    `rows` is what the log says of it, None where no log does. One that was collected, and that no
    newest version has, `may_be_gone`.
    """

    objects: Objects
    path: str
    blake3_hash: str
    size: int
    rows: int | None
    may_be_gone: bool = False


class ExaminedFile(NamedTuple):
    """A file as it is. `rows` is None where it does not end as Parquet does."""

    size: int
    blake3_hash: str
    rows: int | None


def check_files(expected: Iterable[ExpectedFile], findings: Findings) -> None:
    """Hash every file and compare."""
    wanted = list(dict.fromkeys(expected))
    workers = 2 * (os.cpu_count() or 1)
    with ThreadPoolExecutor(workers, "rocky-verify") as pool:
        found = pool.map(lambda file: _examine_file(file.objects, file.path), wanted)
        for file, actual in zip(wanted, found, strict=True):
            _compare_file(file, actual, findings)


def _compare_file(file: ExpectedFile, actual: ExaminedFile | None, findings: Findings) -> None:
    where = file.objects.place(file.path)
    if actual is None and file.may_be_gone:
        return
    if actual is None:
        findings.add(FindingCode.FILE_MISSING, where, "it was recorded and is gone")
        return
    findings.checked["files"] += 1
    findings.checked["bytes"] += actual.size
    findings.expect(
        file.path.rpartition("/")[2] == f"{file.blake3_hash}{PARQUET_SUFFIX}",
        FindingCode.RECORD_INCONSISTENT,
        where,
        f"its name is not the hash that was recorded, `{file.blake3_hash}`",
    )
    same = findings.expect(
        (actual.blake3_hash, actual.size) == (file.blake3_hash, file.size),
        FindingCode.FILE_CHANGED,
        where,
        f"its {actual.size} bytes hash to `{actual.blake3_hash}`;"
        f" recorded were {file.size} bytes of `{file.blake3_hash}`",
    )
    if same and file.rows is not None:
        findings.expect(
            actual.rows == file.rows,
            FindingCode.ROWS_MISMATCH,
            where,
            f"it has {actual.rows} rows, the table's log says {file.rows}",
        )


def _examine_file(objects: Objects, path: str) -> ExaminedFile | None:
    """A file's size, hash and rows; None where there is none."""
    if objects.info(path) is None:
        return None
    hasher, size = blake3(), 0
    with open_object(objects, path) as opened:
        read: Callable[[], bytes] = lambda: opened.read(_CHUNK)  # noqa: E731 - `iter` asks for one
        for chunk in iter(read, b""):
            hasher.update(chunk)
            size += len(chunk)
        opened.seek(0)
        try:
            rows = pq.read_metadata(opened).num_rows
        except (pa.ArrowException, OSError):
            rows = None
    return ExaminedFile(size, hasher.hexdigest(), rows)

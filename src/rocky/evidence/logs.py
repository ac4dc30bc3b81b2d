"""Logs, checked: every file in a table's log was recorded, byte for byte, and none is gone.

Commits of a run that died before it could record them come last, until the next run adopts them;
commits from before commits were recorded have runs that do not say where their warehouse was.
Anything else that nobody recorded was made by somebody else.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from blake3 import blake3

from rocky.evidence.chain import Chain
from rocky.evidence.checkpoints import check_checkpoints
from rocky.evidence.findings import FindingCode, Findings
from rocky.evidence.places import TablePlace
from rocky.evidence.recorded import Maker, Recorded
from rocky.evidence.tables import ExpectedTable, History, LiveFile
from rocky.ledger.records import RunRecord, RunStatus
from rocky.store.actions import Action, parse_add, parse_commit, parse_path
from rocky.store.files import name_of
from rocky.store.log import FOLDER

_COMMIT: Final = re.compile(r"(\d{20})\.json")
_DAMAGED: Final = (ValueError, KeyError, TypeError, AttributeError)


class LogChecker:
    """Checks the logs of tables against one ledger."""

    def __init__(
        self, recorded: Recorded, chain: Chain, ledger_id: str | None, findings: Findings
    ) -> None:
        self._recorded = recorded
        self._chain = chain
        self._ledger_id = ledger_id
        self._findings = findings

    def check(
        self, place: TablePlace, expected: ExpectedTable, files: Mapping[str, bytes]
    ) -> History:
        """What a log says, from the bytes of its files by name; nothing if it was tampered with."""
        self._findings.checked["tables"] += 1
        found = {int(name[:20]): name for name in files if _COMMIT.fullmatch(name)}
        states: dict[int, dict[str, LiveFile]] = {}
        rows: dict[str, int] = {}
        live: dict[str, LiveFile] = {}
        whole = True
        for version in range(max((*found, *expected.commits), default=-1) + 1):
            data = files.get(found.get(version, ""))
            actions = self._trusted(place, expected, version, data)
            whole = whole and actions is not None
            if actions is None:
                continue
            added = self._added(place, expected, version, actions)
            removed = _removed(actions)
            live = {path: file for path, file in live.items() if path not in removed} | added
            rows.update({path: file.rows for path, file in added.items()})
            states[version] = live
        others = {name: data for name, data in files.items() if name not in found.values()}
        unrecorded = set(found) - set(expected.commits)
        history = History(states, rows) if whole else History()
        check_checkpoints(place, expected, others, (unrecorded, history), self._findings)
        return history

    def _trusted(
        self, place: TablePlace, expected: ExpectedTable, version: int, data: bytes | None
    ) -> list[Action] | None:
        """The actions of a commit that is what was recorded, or that nobody has recorded yet."""
        where = place.place(f"{FOLDER}/{version:020d}.json")
        said = expected.commits.get(version)
        if data is None:
            why = "the commit is gone from the log"
            self._findings.add(FindingCode.COMMIT_MISSING, where, why)
            return None
        if said is not None and blake3(data).hexdigest() != said.record.blake3_hash:
            why = "the commit is not the one that was recorded: the table was changed by hand"
            self._findings.add(FindingCode.COMMIT_CHANGED, where, why)
            return None
        self._findings.checked["commits"] += 1
        try:
            actions = parse_commit(data)
            info, _ = _info_of(actions), _removed(actions)
        except _DAMAGED as error:
            why = f"the commit cannot be read ({error})"
            self._findings.add(FindingCode.COMMIT_UNRECORDED, where, why)
            return None
        if said is not None:
            self._check_info(where, info, said.maker)
        else:
            self._explain(where, info, last=version > max(expected.commits, default=-1))
        return actions

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
            why = "could not reach the state that is kept elsewhere: it vouches for none"
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

    def _explain(self, where: str, info: Mapping[str, Any], *, last: bool) -> None:
        """Say of an unrecorded commit whether that can be."""
        run = self._recorded.runs.get(str(info.get("runId")))
        if run is not None and run.warehouse is None and _maker_of(info) in self._recorded.files:
            self._findings.note(f"{where}: made by `{run.run_id}`, before commits were recorded")
        elif run is not None and last and _is_unfinished(run):
            how = "has not ended" if run.reason is None else "died" if run.died else "gave up"
            self._findings.note(
                f"{where}: made by `{run.run_id}`, which {how}; the model's next run records it"
            )
        else:
            self._findings.add(FindingCode.COMMIT_UNRECORDED, where, self._blame(info))

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
            f"no record has this commit of run `{info['runId']}`: the ledger was rolled back to"
            " before it, or somebody made it look like a run's"
        )

    def _added(
        self, place: TablePlace, expected: ExpectedTable, version: int, actions: list[Action]
    ) -> dict[str, LiveFile]:
        """The files that a commit adds; a recorded commit adds only recorded ones."""
        where = place.place(f"{FOLDER}/{version:020d}.json")
        recorded = self._recorded.files.get(_maker_of(_info_of(actions)), {})
        added: dict[str, LiveFile] = {}
        for action in actions:
            if not action.get("add"):
                continue
            try:
                file = parse_add(action["add"])
            except _DAMAGED as error:
                why = f"an action cannot be read ({error})"
                self._findings.add(FindingCode.COMMIT_UNRECORDED, where, why)
                continue
            added[file.name] = LiveFile(file.size, file.rows)
            if version in expected.commits:
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


def _maker_of(info: Mapping[str, Any]) -> Maker:
    return str(info.get("runId")), str(info.get("model")).lower()


def _removed(actions: list[Action]) -> set[str]:
    return {name_of(parse_path(each["remove"])) for each in actions if each.get("remove")}


def _is_unfinished(run: RunRecord) -> bool:
    """Whether a run may have made a commit that it did not come to record."""
    return run.reason is not None or run.status is RunStatus.RUNNING

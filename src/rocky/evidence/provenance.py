"""Provenance, checked: what executions, builds and promotions say of their tables is so.

Every hash of a build is computed again from what it is a hash of. Each check needs the record
alone, but for one hop: what is said of a table must be what that table's log says it was at that
version. Approvals of a promotion must have the signatures of those who are said to have given them.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Final

from rocky.canonical import text_hash
from rocky.evidence.findings import FindingCode, Findings
from rocky.evidence.records import LedgerRecords, Maker, TablePlace, maker_of, split_place
from rocky.evidence.tables import PARQUET_SUFFIX, TableHistory
from rocky.ledger.branch_records import PROMOTIONS, ApprovalRecord, PromotedTable, PromotionRecord
from rocky.ledger.provenance import (
    InputIndexEntry,
    ProvenanceRecord,
    ReadRecord,
    content_hash,
    input_hash_of,
    skip_hash_of,
    source_hash,
)
from rocky.ledger.run_records import ArtifactRecord, ModelExecution
from rocky.project.configuration.strategies import WHOLE_STRATEGIES
from rocky.store.delta.signature import is_signed


@dataclass(frozen=True, slots=True)
class BuildOutput:
    """What a build left, as far as other records refer to it."""

    target: str
    env_hash: str | None
    hashes: frozenset[str | None]
    blake3: tuple[str, ...]
    paths: tuple[str, ...]


class ProvenanceChecker:
    """Checks the provenance of builds. `histories` are the logs that could be trusted."""

    def __init__(
        self,
        recorded: LedgerRecords,
        histories: Mapping[TablePlace, TableHistory],
        findings: Findings,
    ) -> None:
        self._recorded = recorded
        self._histories = histories
        self._findings = findings
        self._places = {each.file_path for each in recorded.artifacts()}
        self._reused = frozenset(
            each.input_hash for each in recorded.executions.values() if each.reused_from is not None
        )
        self.outputs: dict[Maker, BuildOutput] = {}

    def check(self, record: ProvenanceRecord) -> None:
        where = f"input_provenance {record.run_id}|{record.model_name.lower()}"
        self._findings.checked["provenances"] += 1
        try:
            self._check_hashes(where, record)
        except (ValueError, KeyError, TypeError) as error:
            why = f"its IR cannot be read, so its hashes cannot be computed again ({error})"
            self._findings.add(FindingCode.RECORD_MALFORMED, where, why)
        self._check_outputs(where, record)
        self._check_reads(where, record)

    def remember(self, record: ProvenanceRecord) -> None:
        """Keep what other records refer to."""
        self.outputs[maker_of(record.run_id, record.model_name)] = BuildOutput(
            record.target,
            record.env_hash,
            frozenset((record.input_hash, record.cutoff_hash)),
            record.output_blake3,
            record.output_path,
        )

    def _check_hashes(self, where: str, record: ProvenanceRecord) -> None:
        ir: Mapping[str, Any] = json.loads(record.model_ir_canonical_json)
        execution = self._recorded.executions.get(maker_of(record.run_id, record.model_name))
        skip_hash = skip_hash_of(ir)
        computed = {
            "recipe_hash": text_hash(record.model_ir_canonical_json),
            "skip_hash": skip_hash,
            "input_hash": input_hash_of(skip_hash, str(ir["target"]), record.upstreams),
            "cutoff_hash": input_hash_of(skip_hash, str(ir["target"]), record.cutoff_upstreams),
            "env_hash": text_hash(record.env_canonical_json or ""),
            "sql_hash": text_hash(record.executed_sql),
        }
        for name, value in computed.items():
            for holder in (record, execution):
                said = getattr(holder, name, None)
                self._findings.expect(
                    not said or said == value,
                    FindingCode.HASH_MISMATCH,
                    where,
                    f"`{name}` is not the hash of what it is said to be made of",
                )
        self._findings.expect(
            execution is not None and ir["target"] == record.target == execution.target,
            FindingCode.RECORD_INCONSISTENT,
            where,
            "its target is not that of its IR, or of what was recorded of the model in this run",
        )

    def _check_outputs(self, where: str, record: ProvenanceRecord) -> None:
        names = [path.rpartition("/")[2] for path in record.output_path]
        self._findings.expect(
            names == [f"{each}{PARQUET_SUFFIX}" for each in record.output_blake3],
            FindingCode.RECORD_INCONSISTENT,
            where,
            "its output files are not named by the hashes it gives for them",
        )
        for path in record.output_path:
            self._findings.expect(
                path in self._places,
                FindingCode.RECORD_MISSING,
                where,
                f"its output file `{path}` has no row in `output_artifacts`",
            )

    def _check_reads(self, where: str, record: ProvenanceRecord) -> None:
        self._check_upstreams(where, record.upstreams, record.reads)
        for read in _all_reads(record.reads):
            if read.kind == "inline":
                self._check_upstreams(where, read.upstreams, read.reads)
            elif read.kind == "table" and read.target and read.version is not None:
                found = self._content_at(record.run_id, read.target, read.version)
                self._findings.expect(
                    found in (None, read.identity),
                    FindingCode.HASH_MISMATCH,
                    where,
                    f"`{read.target}` was not, at version {read.version}, what it says was read",
                )

    def _content_at(self, run_id: str, target: str, version: int) -> str | None:
        """The hash of a table's files at a version, in a run's warehouse; None if not known."""
        root = self._recorded.root_of(run_id)
        if root is None:
            return None
        history = self._histories.get(self._recorded.places.table(root, target), TableHistory())
        # What was read before a table was dropped and made again is no more.
        return None if run_id < history.since else history.content(version)

    def _check_upstreams(
        self, where: str, upstreams: tuple[Mapping[str, str], ...], reads: tuple[ReadRecord, ...]
    ) -> None:
        """Each identity that was hashed must be that of something that was read."""
        read_as = {each.target or each.name: _identity_of(each) for each in reads}
        for upstream in upstreams:
            key = upstream.get("upstream_key", "")
            said = upstream.get("blake3_hash") or upstream.get("input_hash")
            if upstream.get("kind") in ("content", "inline"):
                self._findings.expect(
                    read_as.get(key) == said,
                    FindingCode.HASH_MISMATCH,
                    where,
                    f"its upstream `{key}` is not the hash of what was read",
                )

    def check_index(self, entry: InputIndexEntry) -> None:
        """An indexed result must be what the provenance of its build says."""
        where = f"input_index {entry.input_hash}"
        made = self.outputs.get(maker_of(entry.run_id, entry.model_name))
        if made is None:
            why = f"it reuses a build of `{entry.run_id}` that has no provenance"
            self._findings.add(FindingCode.RECORD_MISSING, where, why)
            return
        said = (entry.target, entry.env_hash, entry.output_blake3, entry.output_path)
        # A result that was taken over is found at the version it was committed to again.
        held = self._content_at(entry.run_id, entry.target, entry.commit_version)
        self._findings.expect(
            said == (made.target, made.env_hash, made.blake3, made.paths)
            and held in (None, content_hash(made.blake3)),
            FindingCode.RECORD_INCONSISTENT,
            where,
            f"it is not what the provenance of `{entry.run_id}` says",
        )
        # Inputs that were found equal by their rows or columns have a hash of their own.
        known = made.hashes if entry.basis == "content" else made.hashes | self._reused
        self._findings.expect(
            entry.input_hash in known,
            FindingCode.RECORD_INCONSISTENT,
            where,
            "no build and no reuse had these inputs",
        )


def _all_reads(reads: tuple[ReadRecord, ...]) -> Iterator[ReadRecord]:
    for each in reads:
        yield each
        yield from _all_reads(each.reads)


def _identity_of(read: ReadRecord) -> str | None:
    """What identifies a read, computed again where the record has what it is made of."""
    if read.kind == "inline" and read.skip_hash and read.target:
        return input_hash_of(read.skip_hash, read.target, read.upstreams)
    if read.kind == "source":
        hashed = [(each.path, each.blake3_hash) for each in read.files if each.blake3_hash]
        if hashed and len(hashed) == len(read.files):
            return source_hash(hashed)
    return read.identity


def check_execution(
    maker: Maker, execution: ModelExecution, history: TableHistory, findings: Findings
) -> None:
    """What an execution says of its table must be what the table's log says."""
    version, states = execution.commit_version, history.states
    if not states or version is None:
        return
    where = f"model_executions {maker[0]}|{maker[1]}"
    state = states.get(version)
    if state is None:
        why = f"its table never had version {version}"
        findings.add(FindingCode.COMMIT_MISSING, where, why)
        return
    rows = sum(file.rows for file in state.values())
    if execution.strategy in WHOLE_STRATEGIES and execution.rows_affected is not None:
        findings.expect(
            rows == execution.rows_affected,
            FindingCode.ROWS_MISMATCH,
            where,
            f"it wrote {execution.rows_affected} rows, the table's log says {rows}",
        )


def check_reuse(
    maker: Maker,
    execution: ModelExecution,
    recorded: LedgerRecords,
    outputs: Mapping[tuple[str, str], BuildOutput],
    findings: Findings,
) -> None:
    """The files of a reused result must be those that the run it names made.

    `outputs` are by run and target: the model may have been renamed since.
    """
    if execution.reused_from is None:
        return
    where = f"model_executions {maker[0]}|{maker[1]}"
    made = outputs.get((execution.reused_from, (execution.target or "").lower()))
    findings.expect(
        made is not None and set(recorded.files.get(maker, ())) <= set(made.paths),
        FindingCode.RECORD_INCONSISTENT,
        where,
        f"its files are not those that `{execution.reused_from}` made",
    )


def check_artifact(artifact: ArtifactRecord, history: TableHistory, findings: Findings) -> None:
    """A recorded file must have been one of its table's at the version its record names."""
    _, path = split_place(artifact.file_path)
    state = history.states.get(artifact.commit_version)
    if state is None:
        return
    file = state.get(path)
    findings.expect(
        file is not None and file.size == artifact.size_bytes,
        FindingCode.RECORD_INCONSISTENT,
        f"output_artifacts {artifact.run_id}|{artifact.model_name}|{artifact.file_path}",
        f"the table had no such file at version {artifact.commit_version}",
    )


def check_promotions(
    recorded: LedgerRecords, histories: Mapping[TablePlace, TableHistory], findings: Findings
) -> None:
    """Report promotions that are not what tables and approvals say."""
    for promotion in recorded.promotions.values():
        where = f"{PROMOTIONS} {promotion.run_id}"
        findings.checked["promotions"] += 1
        for table in promotion.tables:
            _check_promoted_table(where, promotion, table, (recorded, histories), findings)
        for approval in promotion.approvals:
            findings.expect(
                _approved_state(approval.statement) == (promotion.branch, promotion.state_hash),
                FindingCode.RECORD_INCONSISTENT,
                where,
                f"approval `{approval.approval_id}` is not about what was promoted",
            )
            _check_signature(where, approval, findings)


_SIGNER: Final = re.compile(r"(\S+) (?:.*\s)?((?:sk-)?ssh-ed25519\S*)\s+([A-Za-z0-9+/=]+)(?:\s.*)?")
_ARMOUR: Final = re.compile("-----[A-Z ]+-----")
_APPROVAL: Final = b"rocky-approval"


def _check_signature(where: str, approval: ApprovalRecord, findings: Findings) -> None:
    """Report an approval that the key of its line of `allowed_signers` has not signed."""
    line = _SIGNER.fullmatch(approval.allowed_signer.strip())
    name = f"approval `{approval.approval_id}` by `{approval.approver}`"
    if line is not None and line[2].startswith("sk-"):
        findings.note(f"{where}: {name} is by a security key: `ssh-keygen -Y verify` checks it")
        return
    text = "".join(_ARMOUR.sub("", approval.signature).split())
    findings.expect(
        line is not None
        and _is_of(approval.approver, line[1])
        and is_signed(f"{line[2]} {line[3]}", approval.statement.encode(), text, _APPROVAL),
        FindingCode.APPROVAL_UNSIGNED,
        where,
        f"{name} is not signed by the key that its line of `allowed_signers` has",
    )


def _is_of(approver: str, principals: str) -> bool:
    """Whether a line of `allowed_signers` is about somebody, by names with `*`, `?` and `!`."""
    wanted = [each.replace("[", "[[]") for each in principals.strip('"').split(",")]
    refused = any(fnmatchcase(approver, each[1:]) for each in wanted if each.startswith("!"))
    named = any(fnmatchcase(approver, each) for each in wanted if not each.startswith("!"))
    return bool(approver) and named and not refused


def _check_promoted_table(
    where: str,
    promotion: PromotionRecord,
    table: PromotedTable,
    known: tuple[LedgerRecords, Mapping[TablePlace, TableHistory]],
    findings: Findings,
) -> None:
    recorded, histories = known
    maker = maker_of(promotion.run_id, table.model_name)
    execution = recorded.executions.get(maker)
    if promotion.run_id in recorded.runs:
        findings.expect(
            execution is not None and execution.commit_version == table.to_version,
            FindingCode.RECORD_INCONSISTENT,
            where,
            f"no execution says that it moved `{table.target}` to version {table.to_version}",
        )
    root = recorded.root_of(promotion.run_id)
    if root is None:
        return
    history = histories.get(recorded.places.table(root, table.target), TableHistory())
    if promotion.run_id < history.since:
        # The table was dropped and made again.
        return
    for version, said in (
        (table.to_version, table.to_content),
        (table.from_version, table.from_content),
    ):
        found = None if version is None else history.content(version)
        findings.expect(
            found in (None, said),
            FindingCode.HASH_MISMATCH,
            where,
            f"`{table.target}` was not, at version {version}, what it says",
        )


def _approved_state(statement: str) -> tuple[Any, Any]:
    """The branch and the state that a statement is about."""
    try:
        document = json.loads(statement)
        return document.get("branch"), document.get("state_hash")
    except (ValueError, AttributeError):
        return None, None

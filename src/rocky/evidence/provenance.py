"""Provenance, checked: every hash of a build is computed again from what it is a hash of.

Each check needs the record alone, but for one hop: what a build says it read of a table must be
what that table's log says it was at that version.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rocky.evidence.findings import FindingCode, Findings
from rocky.evidence.hashes import (
    content_hash,
    input_hash_of,
    skip_hash_of,
    source_hash,
    text_hash,
)
from rocky.evidence.places import TablePlace
from rocky.evidence.recorded import Maker, Recorded, maker_of
from rocky.evidence.tables import SUFFIX, History
from rocky.ledger.provenance import InputIndexEntry, ProvenanceRecord, ReadRecord


@dataclass(frozen=True, slots=True)
class Output:
    """What a build left, as far as other records refer to it."""

    target: str
    env_hash: str | None
    hashes: frozenset[str | None]
    blake3: tuple[str, ...]
    paths: tuple[str, ...]


class ProvenanceChecker:
    """Checks the provenance of builds. `histories` are the logs that could be trusted."""

    def __init__(
        self, recorded: Recorded, histories: Mapping[TablePlace, History], findings: Findings
    ) -> None:
        self._recorded = recorded
        self._histories = histories
        self._findings = findings
        self._places = {each.file_path for each in recorded.artifacts()}
        self._reused = frozenset(
            each.input_hash for each in recorded.executions.values() if each.reused_from is not None
        )
        self.outputs: dict[Maker, Output] = {}

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
        self.outputs[maker_of(record.run_id, record.model_name)] = Output(
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
            names == [f"{each}{SUFFIX}" for each in record.output_blake3],
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
        history = self._histories.get(self._recorded.places.table(root, target), History())
        # What was read before a table was dropped and made anew is no more.
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
            why = f"it stands for a build of `{entry.run_id}` that has no provenance"
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

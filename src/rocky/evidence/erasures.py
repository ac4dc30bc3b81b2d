"""What certificates of erasures explain: files that are gone, commits that lost statistics.

A certificate explains exactly what it names: the commit of one version that had one hash and has
another, the checkpoint of one version, the file at one place. Whatever else is missing or changed
is a finding as before. And it is held to its word: a file that it says is gone must be.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from blake3 import blake3

from rocky.errors import StoreUnreadable
from rocky.evidence.findings import FindingCode, Findings
from rocky.evidence.records import LedgerRecords, TablePlace
from rocky.evidence.tables import ExpectedTable
from rocky.ledger.erasure_records import ErasedTable, ErasureRecord
from rocky.store.delta.log import LOG_FOLDER
from rocky.store.delta.signature import is_signed
from rocky.store.journal import ERASURE_FOLDER, load_journals
from rocky.store.warehouse import Warehouse


class Certificates:
    """All that erasures have done to tables."""

    def __init__(self, recorded: LedgerRecords) -> None:
        self._recorded = recorded
        self._commits: dict[tuple[TablePlace, int, str], tuple[str, str]] = {}
        self._checkpoints: set[tuple[TablePlace, int, str]] = set()
        for certificate, place, table in self._tables():
            for commit in table.commits:
                self._commits[place, commit.version, commit.after] = (
                    commit.before,
                    certificate.run_id,
                )
            self._checkpoints |= {
                (place, each.version, each.blake3_hash) for each in table.checkpoints
            }

    def _tables(self) -> Iterator[tuple[ErasureRecord, TablePlace, ErasedTable]]:
        places = self._recorded.places
        for certificate in self._recorded.erasures.values():
            for table in certificate.tables:
                yield certificate, places.table(places.root(table.warehouse), table.target), table

    def explain_commit(
        self, place: TablePlace, version: int, before: str, now: str | None
    ) -> str | None:
        """The run whose certificate says that a commit of one hash became that of another."""
        found: str | None = None
        # A commit may have been redacted more than once, and each certificate names the one before.
        while now is not None and now != before:
            known = self._commits.get((place, version, now))
            if known is None:
                return None
            now, found = known
        return found

    def without_removed(
        self, place: TablePlace, expected: ExpectedTable, files: Mapping[str, bytes]
    ) -> ExpectedTable:
        """What is expected of a log, without checkpoints that are gone because a certificate says.

        `files` are all of the log by name: one that is there must be as it was recorded.
        """
        commits = {}
        for version, commit in expected.commits.items():
            digest = commit.record.checkpoint_blake3
            gone = f"{version:020d}.checkpoint.parquet" not in files
            if digest is not None and gone and (place, version, digest) in self._checkpoints:
                commit = commit._replace(record=replace(commit.record, checkpoint_blake3=None))  # noqa: PLW2901 - the same, said otherwise
            commits[version] = commit
        return replace(expected, commits=commits)

    def check_gone(self, findings: Findings) -> None:
        """Report what a certificate says is gone, and that is there as it was.

        That is files, checkpoints, and statistics in commits: who puts back a log from a backup
        brings back values.
        """
        for certificate, place, table in self._tables():
            objects = self._recorded.places.warehouse(place.root).objects
            self._check_logs_gone(certificate, place, table, findings)
            for file in table.files:
                path = self._recorded.places.file(file.file_path)
                written = self._recorded.written.get(path)
                again = written is not None and written > certificate.erased_at
                below = path.removeprefix(f"{place.root}/")
                findings.expect(
                    again or objects.info(below) is None,
                    FindingCode.ERASED_FILE_PRESENT,
                    path,
                    f"the certificate of `{certificate.run_id}` says that it is gone: it was put"
                    " back, or the erasure is not finished",
                )

    def _check_logs_gone(
        self,
        certificate: ErasureRecord,
        place: TablePlace,
        table: ErasedTable,
        findings: Findings,
    ) -> None:
        objects = self._recorded.places.warehouse(place.root).objects
        said = [(f"{each.version:020d}.json", each.before) for each in table.commits]
        said += [
            (f"{each.version:020d}.checkpoint.parquet", each.blake3_hash)
            for each in table.checkpoints
        ]
        for name, before in said:
            data = objects.read(f"{place.prefix}/{LOG_FOLDER}/{name}")
            findings.expect(
                data is None or blake3(data).hexdigest() != before,
                FindingCode.ERASED_FILE_PRESENT,
                place.place(f"{LOG_FOLDER}/{name}"),
                f"the certificate of `{certificate.run_id}` says that its statistics are gone: it"
                " was put back, or the erasure is not finished",
            )


def check_erasure_journals(
    warehouse: Warehouse, recorded: LedgerRecords, findings: Findings
) -> None:
    """An erasure that was interrupted has left files of rows that are to be forgotten."""
    try:
        journals = load_journals(warehouse, ERASURE_FOLDER)
    except StoreUnreadable as error:
        findings.add(FindingCode.FOREIGN_JOURNAL, "erasures", str(error))
        return
    for journal in journals:
        run = recorded.runs.get(journal.run_id)
        key = run.commit_key if run is not None else None
        if key is None or not is_signed(key, journal.statement, journal.signature):
            findings.add(
                FindingCode.FOREIGN_JOURNAL,
                f"erasure {journal.run_id}",
                "no erasure of this ledger has signed the journal: it was put there by hand, and"
                " nothing is removed because of it; remove"
                f" `{warehouse.objects.place(f'{ERASURE_FOLDER}/{journal.run_id}.json')}`",
            )
            continue
        findings.add(
            FindingCode.ERASURE_UNFINISHED,
            f"erasure {journal.run_id}",
            "it was interrupted: rows and files may be left that are to go;"
            " `rocky erase --resume` finishes it",
        )

"""Seals: what a ledger and its tables were at one moment, and whether they still go on from there.

A seal is kept by somebody who does not keep the ledger. It proves nothing about what is right, only
that there was this chain up to this entry, and these tables up to these versions: what is there now
must have them in its past. Who signed it is checked above; here a seal is believed.
"""

import json
import re
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple

from blake3 import blake3

from rocky.canonical import canonical_json
from rocky.errors import LedgerUnreadable, SealRefused
from rocky.evidence.chain import Chain, check_chain
from rocky.evidence.erasures import Certificates
from rocky.evidence.findings import FindingCode, Findings
from rocky.evidence.records import LedgerRecords, OpenWarehouse, Places, TablePlace
from rocky.evidence.tables import find_tables
from rocky.ledger.chain import Head
from rocky.ledger.readers.evidence import EvidenceReader
from rocky.ledger.readers.heads import HeadsReader
from rocky.ledger.record import format_time, parse_time
from rocky.store.delta.log import LOG_FOLDER

FORMAT: Final = 1
_READERS: Final = 16
_RUNS: Final = "run_history"
_HASH: Final = re.compile(r"[0-9a-f]{64}")
_LEDGER_ID: Final = re.compile(r"[0-9a-f]{32}")


class NotASeal(ValueError):
    """A text that is no seal; says why."""


class SealedTable(NamedTuple):
    """A table's newest recorded commit: the hash of its bytes. `path` is below the warehouse."""

    warehouse: str
    path: str
    version: int
    commit: str


@dataclass(frozen=True, slots=True)
class Seal:
    """The head of a ledger and of its tables. `branch` is whose; `signer` is who says so, when."""

    ledger_id: str
    head: Head
    tables: tuple[SealedTable, ...]
    signer: str
    sealed_at: datetime
    branch: str | None = None

    @property
    def text(self) -> str:
        """What is signed: one line of canonical JSON, with its end."""
        head = {"entry_hash": self.head.entry_hash, "seq": self.head.seq}
        document = {
            "branch": self.branch,
            "format": FORMAT,
            "head": head,
            "ledger_id": self.ledger_id,
            "sealed_at": format_time(self.sealed_at),
            "signer": self.signer,
            "tables": [each._asdict() for each in self.tables],
        }
        return f"{canonical_json(document)}\n"


def parse_seal(text: str) -> Seal:
    """The seal in a text. Raises NotASeal unless it is one to the letter."""
    try:
        found = json.loads(text)
        seal = Seal(
            _match(_LEDGER_ID, found["ledger_id"]),
            Head(_number(found["head"]["seq"]), _match(_HASH, found["head"]["entry_hash"])),
            tuple(_parse_table(each) for each in found["tables"]),
            _text(found["signer"]),
            parse_time(_text(found["sealed_at"])),
            None if found["branch"] is None else _text(found["branch"]),
        )
        same = seal.text == text
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as wrong:
        raise NotASeal(f"it is not a seal ({wrong!r})") from wrong
    if not same:
        raise NotASeal("it is not in the form of a seal")
    return seal


def _parse_table(found: Mapping[str, Any]) -> SealedTable:
    return SealedTable(
        _text(found["warehouse"]),
        _text(found["path"]),
        _number(found["version"]),
        _match(_HASH, found["commit"]),
    )


def _text(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise TypeError("a text is missing")
    return value


def _number(value: object) -> int:
    if type(value) is not int or value < 0:
        raise TypeError("a number is missing")
    return value


def _match(pattern: re.Pattern[str], value: object) -> str:
    if not isinstance(value, str) or not pattern.fullmatch(value):
        raise ValueError("a hash or an id is missing")
    return value


# ------------------------------------------------------------------ making one


class HeadsNow(NamedTuple):
    """What there is to seal. `unlike` are tables that are not as recorded, and so left out.

    `beyond` counts the entries after the head that are not sealed with it.
    """

    ledger_id: str
    head: Head
    tables: tuple[SealedTable, ...]
    unlike: tuple[str, ...]
    beyond: int


def find_heads(
    reader: HeadsReader,
    open_warehouse: OpenWarehouse,
    published: Head | None = None,
    run_id: str | None = None,
) -> HeadsNow:
    """The heads of a ledger, and of its models' tables where the recorded commit is as recorded.

    Of a remote state only what is `published` counts. Raises LedgerUnreadable when there is no
    chain, and SealRefused when it does not have the head, or that does not cover a run.
    """
    newest = reader.head() if reader.is_chained else None
    ledger_id = reader.ledger_id
    if newest is None or ledger_id is None:
        raise LedgerUnreadable(
            f"the state file `{reader.path}` was written by an older Rocky and has no chain;"
            " the next `rocky run` makes one"
        )
    head = published or newest
    if published is None and run_id is not None and not reader.covers(head, run_id):
        raise SealRefused(
            f"the state file `{reader.path}` does not have run `{run_id}` as it ended: another file"
            " took its place, or somebody has changed it; `rocky verify` says more"
        )
    if not reader.has(head) or (run_id is not None and not reader.covers(head, run_id)):
        raise SealRefused(
            "records of this machine are not in the remote state yet, so their place in the chain"
            " may still change; the next run here sends them"
        )
    places = Places(open_warehouse)
    expected = sorted(
        SealedTable(place.root, place.prefix, each.commit.version, each.commit.blake3_hash)
        for each in reader.newest_commits()
        for place in (places.table(places.root(each.warehouse), each.target),)
    )
    found = _read_commits(expected, places)
    same = tuple(each for each in expected if found[each] == each.commit)
    unlike = tuple(each.path.replace("/", ".") for each in expected if found[each] != each.commit)
    return HeadsNow(ledger_id, head, same, unlike, newest.seq - head.seq)


def refuse_broken_chain(reader: EvidenceReader) -> None:
    """Raise LedgerUnreadable when records are not what the chain says of them."""
    reader.refuse_damaged()
    findings = Findings()
    check_chain(reader, findings)
    for each in findings.found:
        raise LedgerUnreadable(
            f"the records in `{reader.path}` are not whole, so they are not sealed:"
            f" {each.where}: {each.message}; `rocky verify` says more"
        )


def _read_commits(tables: Iterable[SealedTable], places: Places) -> dict[SealedTable, str | None]:
    """The hash that each table's commit has now; None for one that is not there."""

    def read(table: SealedTable) -> str | None:
        path = f"{table.path}/{LOG_FOLDER}/{table.version:020d}.json"
        data = places.warehouse(table.warehouse).objects.read(path)
        return None if data is None else blake3(data).hexdigest()

    wanted = list(dict.fromkeys(tables))
    with ThreadPoolExecutor(_READERS, "rocky-seal") as pool:
        return dict(zip(wanted, pool.map(read, wanted), strict=True))


# ------------------------------------------------------------------ checking one


class KeptSeal(NamedTuple):
    """A seal, and the file it is kept in."""

    name: str
    seal: Seal


@dataclass(frozen=True, slots=True)
class KeptHeads:
    """What somebody has kept of a ledger: seals, and the hash of an entry that they noted."""

    seals: tuple[KeptSeal, ...] = ()
    head: str | None = None


NOTHING_KEPT: Final = KeptHeads()


def check_kept(
    kept: KeptHeads,
    ledger_id: str | None,
    chain: Chain,
    recorded: LedgerRecords,
    findings: Findings,
) -> None:
    """Report where a ledger and its tables do not go on from what was kept of them."""
    if kept.head is not None:
        findings.expect(
            chain.has(kept.head),
            FindingCode.HEAD_UNKNOWN,
            f"head {kept.head}",
            "the chain has no entry with this hash: the ledger was rolled back or rewritten since"
            " it was noted, or is another one",
        )
    if not kept.seals:
        return
    makers, certificates = _find_makers(chain, recorded), Certificates(recorded)
    listed = (each for one in kept.seals for each in one.seal.tables)
    found = _read_commits(listed, recorded.places)
    for name, seal in kept.seals:
        findings.checked["seals"] += 1
        goes_on = _check_head(name, seal, ledger_id, chain, findings)
        for table in seal.tables:
            if found[table] == table.commit:
                continue
            place = TablePlace(recorded.places.root(table.warehouse), table.path)
            erased = certificates.explain_commit(place, table.version, table.commit, found[table])
            if erased is not None and goes_on:
                findings.note(
                    f"{place.root}/{place.prefix}: statistics of erased files were taken out of the"
                    f" commit that `{name}` has, by the certificate of `{erased}`"
                )
                continue
            maker = makers.get(place)
            # Records that do not go on from the seal explain nothing.
            if goes_on and maker is not None and maker.begun > seal.head.seq:
                findings.note(
                    f"{place.root}/{place.prefix}: it was dropped since it was sealed, and made"
                    f" again by `{maker.run_id}`"
                )
            else:
                _report_table(name, table, place, found[table], findings)


class _TableMaker(NamedTuple):
    """The run that made a table's version 0, and the entry of the chain it began with."""

    run_id: str
    begun: int


def _find_makers(chain: Chain, recorded: LedgerRecords) -> dict[TablePlace, _TableMaker]:
    begun: dict[str, int] = {}
    for entry in chain.entries:
        if entry.table == _RUNS:
            begun.setdefault(entry.key, entry.seq)
    first = {place: table.commits.get(0) for place, table in find_tables(recorded).items()}
    return {
        place: _TableMaker(commit.maker[0], begun.get(commit.maker[0], 0))
        for place, commit in first.items()
        if commit is not None
    }


def _check_head(
    name: str, seal: Seal, ledger_id: str | None, chain: Chain, findings: Findings
) -> bool:
    newest = max(chain.heads, default=0)
    if seal.ledger_id != ledger_id:
        why = f"it is of the ledger `{seal.ledger_id}`, and this is `{ledger_id}`: another one"
    elif seal.head.seq > newest:
        why = (
            f"the chain had {seal.head.seq} entries when `{seal.signer}` sealed it, and has"
            f" {newest} now: the ledger was rolled back to an older copy"
        )
    else:
        why = (
            f"entry {seal.head.seq} of the chain has another hash than when `{seal.signer}` sealed"
            " it: the ledger was rewritten"
        )
    same = seal.ledger_id == ledger_id and chain.heads.get(seal.head.seq) == seal.head.entry_hash
    return findings.expect(same, FindingCode.SEAL_HEAD_MISSING, name, why)


def _report_table(
    name: str, table: SealedTable, place: TablePlace, now: str | None, findings: Findings
) -> None:
    where = place.place(f"{LOG_FOLDER}/{table.version:020d}.json")
    if now is None:
        findings.add(
            FindingCode.SEAL_TABLE_BEHIND,
            where,
            f"the seal `{name}` has the table at version {table.version}, and that commit is gone:"
            " the table was rolled back or removed",
        )
    else:
        findings.add(
            FindingCode.SEAL_TABLE_CHANGED,
            where,
            f"the seal `{name}` has another commit at version {table.version}: the table was"
            " rewritten",
        )

"""The point after which a verification is asked for, by what a person calls it."""

from datetime import datetime
from pathlib import PurePath
from typing import Final, Literal, NamedTuple

from rocky.diagnostics.suggestion import suggestion
from rocky.errors import InvalidRequest, NothingSelected
from rocky.evidence.scope import Point
from rocky.evidence.seals import KeptHeads
from rocky.ledger import LATEST, EvidenceReader
from rocky.ledger.chain import CHAIN_TABLE
from rocky.ledger.record import run_meant
from rocky.operations.moments import FORMS, parse_moment

NEWEST_SEAL: Final = "seal"
"""What names the newest of the seals that are given."""


class NamedPoint(NamedTuple):
    """A point, what kind of thing names it, and its name."""

    kind: Literal["run", "moment", "seal"]
    name: str
    point: Point


def find_point(reader: EvidenceReader, since: str | datetime, kept: KeptHeads) -> NamedPoint:
    """The point that a word or a moment names. Raises NothingSelected, InvalidRequest."""
    if isinstance(since, datetime):
        if since.tzinfo is None:
            raise InvalidRequest("`since` has no time zone: pass one, such as `datetime.UTC`")
        return _begin_of(reader, since)
    if since == NEWEST_SEAL and not kept.seals:
        raise InvalidRequest("`--since seal` needs seals: name where they are with `--sealed`")
    seals = {PurePath(each.name).stem: each for each in kept.seals}
    sealed = seals.get(PurePath(since).stem)
    if since == NEWEST_SEAL:
        sealed = max(kept.seals, key=lambda each: each.seal.head.seq)
    if sealed is not None:
        return NamedPoint("seal", sealed.name, Point(*sealed.seal.head))
    runs = [key for key, _ in reader.rows("run_history")]
    run_id = runs[-1] if since == LATEST and runs else run_meant(since, runs[::-1])
    if run_id is not None:
        entries = reader.entries_of_run(run_id)
        return NamedPoint("run", run_id, Point(0 if entries is None else entries[1]))
    try:
        return _begin_of(reader, parse_moment(since))
    except ValueError:
        hint = suggestion(since, [*runs, *seals]) or f"nor is it {FORMS}"
        raise NothingSelected(f"no run and no seal `{since}` is known; {hint}") from None


def _begin_of(reader: EvidenceReader, moment: datetime) -> NamedPoint:
    """Before the first entry of the runs that began then or later; else where the chain ends."""
    found = (reader.entries_of_run(run_id) for run_id in reader.runs_from(moment))
    first = min((each[0] for each in found if each is not None), default=None)
    name = moment.isoformat()
    if first is not None:
        return NamedPoint("moment", name, Point(first - 1))
    newest = reader.last_row(CHAIN_TABLE)
    return NamedPoint("moment", name, Point(0 if newest is None else int(newest[0])))

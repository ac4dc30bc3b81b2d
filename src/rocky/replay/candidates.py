"""Candidates: models of a recorded run that can be built again, with all that it takes.

Everything that speaks against it is found here, before Spark is started or anything is written.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rocky.ledger.provenance import ProvenanceRecord
from rocky.ledger.records import RunRecord
from rocky.replay.reads import Finder, FoundRead
from rocky.replay.recipe import Recipe, recipe_of
from rocky.replay.recorded import RecordedModel
from rocky.replay.surroundings import RecordedEnvironment, environment_of
from rocky.replay.trust import NotReplayable, check_record, check_repeats
from rocky.run.pinning import PinnedTable


@dataclass(frozen=True, slots=True)
class Candidate:
    """A model that can be built again: all it needs is there."""

    place: int
    model: RecordedModel
    record: ProvenanceRecord
    recipe: Recipe
    reads: tuple[FoundRead, ...]
    start: PinnedTable | None
    environment: RecordedEnvironment

    @property
    def view(self) -> str:
        return f"rocky_replay_{self.place}"


def prepare_candidate(
    place: int, model: RecordedModel, run: RunRecord, finder: Finder
) -> Candidate:
    """A model with all it needs to be built again. Raises NotReplayable."""
    record = model.provenance
    if record is None:
        raise NotReplayable(_nothing_recorded(model))
    if model.touched:
        raise NotReplayable(
            "the record is not as it was written (the chain has another hash of it);"
            " `rocky verify` says more"
        )
    check_record(record, model.made)
    check_repeats(record)
    recipe = recipe_of(record)
    reads = tuple(map(finder.find, record.reads))
    _check_certain(record, model)
    start = None
    if recipe.keeps_rows and not record.full_refresh and record.base_version is not None:
        start = finder.find_start(record, record.base_version)
    session = run.engine.settings if run.engine and model.built_by == run.run_id else None
    environment = environment_of(record, session)
    return Candidate(place, model, record, recipe, reads, start, environment)


def _nothing_recorded(model: RecordedModel) -> str:
    execution = model.execution
    if execution.error is not None:
        return f"nothing to replay: it failed ({' '.join(execution.error.split())})"
    why = f" ({execution.reason})" if execution.reason else ""
    return f"what it was made from is not recorded: it was not built{why}"


def _check_certain(record: ProvenanceRecord, model: RecordedModel) -> None:
    made = model.made
    if record.proof_class is None and made is not None and made.error is None:
        said = f" ({made.action})" if made.action else ""
        raise NotReplayable(f"nobody can say what it read{said}")


def by_settings(candidates: Iterable[Candidate]) -> Iterator[list[Candidate]]:
    """Candidates that need the same Spark settings, those of most models first."""
    found: list[list[Candidate]] = []
    for each in candidates:
        wanted = dict(each.environment.settings)
        alike = next((g for g in found if dict(g[0].environment.settings) == wanted), None)
        if alike is None:
            found.append([each])
        else:
            alike.append(each)
    yield from sorted(found, key=len, reverse=True)

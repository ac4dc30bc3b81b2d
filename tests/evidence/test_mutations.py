"""Whoever changes one thing is found, by Rocky and by the script an auditor runs without it."""

from collections.abc import Iterator
from random import Random

import pytest

from rocky.evidence.scope import Point, VerificationScope
from rocky.evidence.verification import Verification
from tests.evidence.mutations import MUTATIONS
from tests.evidence.shops import Recorded, audit, verify

EACH = 10
"""Changes of a kind; there are 40 kinds. Where cases are sampled, a ninth of them of each kind."""
MANY = {"byte_of_data_file": 20, "field_of_record": 30, "field_of_entry": 20, "byte_of_commit": 20}


FILES = {"byte_of_data_file", "swapped_data_files", "deleted_data_file", "truncated_data_file"}
"""Kinds that are not found after a point: files that an earlier run had are not read."""


def since_run(project: Recorded, number: int) -> VerificationScope:
    """What came after one of the last three runs, as the untouched ledger has it."""
    return VerificationScope(since=Point(project.ends[-1 - number % 3]))


def since_seal(project: Recorded, number: int) -> VerificationScope:
    """The same, and that somebody has kept the entry: rows that nothing rests on are left out."""
    seq = project.ends[-1 - number % 3]
    return VerificationScope(since=Point(seq, project.heads[seq]))


def is_of_idle_run(project: Recorded, found: Verification) -> bool:
    """Whether all that was changed are rows of earlier runs that nothing rests on.

    That is the run that found everything as it was, and any that never was.
    """
    of_runs = ("run_history", "model_executions", "output_artifacts", "input_provenance")
    runs = {key.partition("|")[0] for table, key in project.changed_rows() if table in of_runs}
    others = {table for table, _ in project.changed_rows()} - set(of_runs)
    built = project.runs - {project.idle}
    return found.passed and not others | (runs & built) and max(runs) < max(built)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    return Recorded.make(tmp_path_factory.mktemp("shop"))


@pytest.fixture
def project(recorded: Recorded) -> Iterator[Recorded]:
    yield recorded
    recorded.restore()


def test_nothing_is_found_in_an_untouched_project(project):
    library, script = verify(project.root), audit(project.root)

    assert ((), ()) == (library.findings, library.notes)
    assert ({}, {}) == (script.findings, script.notes)
    assert project.is_untouched()


@pytest.mark.slow
def test_nothing_is_found_since_any_sealed_entry_and_it_is_the_short_way(project, sample):
    """Also where a seal was made in the middle of a run."""
    for seq in sample(list(project.heads)):
        found = verify(project.root, VerificationScope(since=Point(seq, project.heads[seq])))
        assert (seq, (), True) == (seq, found.findings, found.passed)


@pytest.mark.slow
@pytest.mark.parametrize("kind", MUTATIONS)
def test_every_single_change_is_found_by_rocky_and_by_the_script(project, kind, sample):
    missed = []
    for seed in sample(sample(range(MANY.get(kind, EACH)))):
        said = MUTATIONS[kind](project, Random(f"{kind} {seed}"))
        if said is not None and not project.is_untouched():
            if not verify(project.root).findings:
                missed.append(f"rocky: {said}")
            if not audit(project.root).findings:
                missed.append(f"script: {said}")
            if kind not in FILES and not verify(project.root, since_run(project, seed)).findings:
                missed.append(f"rocky, since a run: {said}")
            late = verify(project.root, since_seal(project, seed))
            if kind not in FILES and not (late.findings or is_of_idle_run(project, late)):
                missed.append(f"rocky, since a seal: {said}")
        project.restore()

    assert [] == missed


def test_hundreds_of_changes_are_tried():
    assert sum(MANY.get(kind, EACH) for kind in MUTATIONS) >= 300

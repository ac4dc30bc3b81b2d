"""Any history at all: what is needed stays, what is not goes, and a second time nothing does.

What must stay is worked out here from what the test itself did, not from logs or records.
"""

import tempfile
from contextlib import ExitStack
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from rocky.evidence.retention.collection import CLAIM_DELAY
from rocky.evidence.retention.decisions import Retention
from tests.evidence.retention.histories import MODELS, Build, Past, ago
from tests.store.tables import read_ids

LONGEST = 200


class Step(NamedTuple):
    """One thing that happens to a table, so many days before the end."""

    kind: str
    model: str
    numbers: tuple[int, ...]
    reads_other: bool
    days: int


class Living(NamedTuple):
    """A run that is going on when files are collected, and the table it writes, if one of ours."""

    days: int
    model: str | None


KINDS = (*["REPLACE"] * 4, "APPEND", "MERGE", "leave", "reuse", "collect")


def some_steps(random: Random) -> list[Step]:
    """Things that happen, oldest first.

    Drawn evenly: what Hypothesis finds simple has everything on one day, and nothing grows old.
    """
    steps = [
        Step(
            random.choice(KINDS),
            random.choice(MODELS),
            # Few numbers, so that the same bytes come back.
            tuple(random.sample(range(6), random.randint(1, 3))),
            random.random() < 0.7,
            random.randint(1, LONGEST),
        )
        for _ in range(random.randint(4, 14))
    ]
    return sorted(steps, key=lambda each: -each.days)


def some_retention(random: Random) -> Retention:
    return Retention(
        random.choice([0, random.randint(0, LONGEST)]),
        random.choice([0, 0, 1, 3]),
        random.choice([0, 0, 7, 40]),
    )


def a_living_run(random: Random) -> Living | None:
    if random.random() < 0.6:
        return None
    return Living(random.randint(0, LONGEST), random.choice([None, None, *MODELS]))


@pytest.mark.slow
@settings(max_examples=25)
@given(st.integers(0, 2**32))
def test_what_is_needed_stays_and_nothing_else(seed):
    random = Random(seed)
    steps, retention, living = some_steps(random), some_retention(random), a_living_run(random)
    note(f"{steps}\n{retention}\n{living}")
    with tempfile.TemporaryDirectory() as folder, ExitStack() as opened:
        past = Past(Path(folder))
        for step in steps:
            carry_out(past, step, retention)
        claimed = None
        if living is not None:
            claimed = living.model
            opened.enter_context(past.running(living.days, claimed or "elsewhere"))
        before = {model: past.stored(model) for model in MODELS}
        # A living run may have begun before a collector that did not see it yet.
        needed = {
            model: needed_files(past, model, retention, living) & before[model] for model in MODELS
        }
        young = ago(0) - max(timedelta(days=retention.min_age_days), CLAIM_DELAY)
        expected = {
            model: before[model]
            if model == claimed or model not in past.versions
            else needed[model]
            | {each for each in before[model] if past.written[model, each] >= young}
            for model in MODELS
        }
        for model in MODELS:
            assert needed_files(past, model, retention, None) <= before[model]
        past.collect(retention)

        assert expected == {model: past.stored(model) for model in MODELS}
        assert all(not each.removals and not each.staged for each in past.collect(retention).tables)
        for model, versions in past.versions.items():
            assert len(versions[-1].files) == len(past.table(model).snapshot().files)
            read_ids(past.table(model))


def carry_out(past: Past, step: Step, retention: Retention) -> None:
    other = next(model for model in MODELS if model != step.model)
    reads = [other] if step.reads_other and other in past.versions else []
    match step.kind:
        case "leave":
            past.leave(step.model, step.days, step.numbers[0])
        case "collect":
            past.collect(retention, days=step.days)
        case "reuse":
            mine = [each for each in past.builds if each.model == step.model]
            if mine:
                past.reuse(mine[step.numbers[0] % len(mine)], step.days)
        case operation:
            past.build(
                step.model,
                step.days,
                *step.numbers,
                operation=operation,
                reads=reads,
                removing=len(step.numbers),
            )


def needed_files(
    past: Past, model: str, retention: Retention, living: Living | None
) -> frozenset[str]:
    """The files of a table that a live version or a retained run needs, or a living one may."""
    versions = past.versions.get(model, [])
    wanted = {len(versions) - 1} if versions else set()
    for build in retained(past.builds, retention, living is not None):
        for each in (build, build.reused):
            if each is not None:
                wanted |= versions_of(each, model)
    since = [ago(0) - CLAIM_DELAY, ago(retention.min_age_days)]
    if living is not None:
        since.append(ago(living.days) - CLAIM_DELAY)
    wanted |= {
        number for number, following in enumerate(versions[1:]) if following.moment >= min(since)
    }
    return frozenset().union(*(versions[number].files for number in wanted))


def versions_of(build: Build, model: str) -> set[int]:
    read = {version for name, version in build.reads if name == model}
    own = {build.version} | ({build.base} if build.base is not None else set())
    return read | (own if build.model == model else set())


def retained(builds: list[Build], retention: Retention, living: bool) -> list[Build]:
    horizon: datetime = ago(retention.max_age_days)
    # A living run is among the newest, and has built nothing yet.
    newest = sorted(builds, key=lambda each: each.run_id)[::-1]
    return [
        each
        for number, each in enumerate(newest)
        if each.moment >= horizon or number < retention.min_runs_kept - living
    ]

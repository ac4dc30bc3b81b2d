"""Every function of `pyspark.sql.functions` gives what Spark said it gives, type by type."""

import json
import warnings
from collections import Counter
from itertools import islice
from pathlib import Path

import pytest

from rocky.frames.frame_check import Frames
from rocky.language.datatypes.text import field_to_json
from tests.frames.examples import shown
from tests.frames.function_calls import TABLE, calls, functions

ANSWERS = json.loads((Path(__file__).parent / "function_answers.json").read_text(encoding="utf-8"))


def outcome(frames: Frames, make) -> str:
    try:
        found = frames.check(frames.table("every_type").select(make()))
    except (ValueError, TypeError) as error:  # PySpark's own refusals are of these
        return f"!{type(error).__name__}"
    if found.errors:
        return f"!{found.errors[0].condition}"
    if found.gaps or not found.known:
        return "?"
    return shown([{**field_to_json(each), "name": ""} for each in found.columns])


def verdicts(step: int) -> tuple[Counter[str], list[tuple[str, str, str, str]]]:
    """What became of every call, or of each so many-th."""
    counted: Counter[str] = Counter()
    told = []
    number = 0
    with warnings.catch_warnings(), Frames({"every_type": TABLE}) as frames:
        warnings.simplefilter("ignore")  # PySpark's advice about windows
        for name in functions():
            by_label = {
                label: result
                for result, labels in ANSWERS[name].items()
                for label in labels.split()
            }
            skipped = -number % step
            every = list(calls(name))
            number += len(every)
            for label, make in islice(every, skipped, None, step):
                expected, actual = by_label[label], outcome(frames, make)
                if expected.startswith("!"):
                    verdict = "refused" if actual.startswith("!") else "false accept"
                else:
                    verdict = "exact" if expected == actual else "differs"
                counted[verdict] += 1
                if verdict == "differs":
                    told.append((name, label, expected, actual))
    return counted, told


def test_every_function_has_answers_of_spark() -> None:
    assert set(functions()) <= set(ANSWERS)


def test_some_calls_of_functions_are_what_spark_says() -> None:
    counted, told = verdicts(step=59)

    assert [] == told
    assert counted["exact"] > 50
    assert counted["refused"] > 100


@pytest.mark.exhaustive
def test_all_calls_of_functions_are_what_spark_says() -> None:
    counted, told = verdicts(step=1)

    assert [] == told
    assert counted["exact"] > 4000
    assert counted["refused"] / (counted["refused"] + counted["false accept"]) > 0.99

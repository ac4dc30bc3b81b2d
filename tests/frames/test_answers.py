"""Frames are what Spark says they are: recorded answers, asked without Spark."""

import json
import warnings
from pathlib import Path

import pytest

from rocky.frames.frame_check import CheckedFrame, Frames
from rocky.language.datatypes.text import field_to_json
from tests.frames.cases import CASES, TABLES
from tests.frames.self_joins import SELF_JOINS

ANSWERS = json.loads((Path(__file__).parent / "answers.json").read_text(encoding="utf-8"))
UNORDERED = {"group_mapping"}
"""Spark itself orders these columns by a hash, and its own client by how they are written."""

EITHER_SIDE = {
    name
    for name in SELF_JOINS
    if "_drop" in name or "_star_" in name or name.startswith("self_other_two_reads")
} | {"self_other_gone_filter", "self_other_read_and_frame"}
"""Here Spark and its client differ, or a view and a table do: never a wrong column is enough."""


def checked(name: str) -> CheckedFrame | Exception:
    with warnings.catch_warnings(), Frames(TABLES) as frames:
        warnings.simplefilter("ignore")  # PySpark's advice about windows
        try:
            made = CASES[name](frames.session, frames.table("orders"), frames.table("customers"))
            return frames.check(made)
        except Exception as error:  # noqa: BLE001 - PySpark refuses some code by itself
            return error


def plain(fields: list[dict]) -> list[dict]:
    return [{**each, "metadata": {}} for each in fields]


def test_every_case_has_an_answer() -> None:
    assert set(ANSWERS) == set(CASES)


@pytest.mark.parametrize(
    "name",
    sorted(name for name, each in ANSWERS.items() if "fields" in each and name not in EITHER_SIDE),
)
def test_a_frame_that_spark_takes_has_its_columns_types_and_nullability(name: str) -> None:
    found = checked(name)
    assert isinstance(found, CheckedFrame), found
    assert () == found.errors
    assert () == found.gaps
    expected = plain(ANSWERS[name]["fields"])
    actual = plain([field_to_json(each) for each in found.columns])
    if name in UNORDERED:
        expected, actual = (sorted(each, key=str) for each in (expected, actual))

    assert expected == actual


@pytest.mark.parametrize(
    "name",
    sorted(name for name, each in ANSWERS.items() if "error" in each and name not in EITHER_SIDE),
)
def test_a_frame_that_spark_refuses_is_refused(name: str) -> None:
    found = checked(name)

    assert isinstance(found, Exception) or found.errors


@pytest.mark.parametrize("name", sorted(EITHER_SIDE))
def test_a_column_that_may_be_of_either_side_is_right_or_unknown(name: str) -> None:
    found = checked(name)
    assert isinstance(found, CheckedFrame), found

    if not (found.gaps or found.errors):
        expected = plain(ANSWERS[name]["fields"])
        assert expected == plain([field_to_json(each) for each in found.columns])

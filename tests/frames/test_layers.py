"""Layers: names that follow from the code are those that the binder finds."""

import warnings
from typing import Any

import pytest
from pyspark.sql import functions as F  # noqa: N812 - as people write it
from pyspark.sql.connect.dataframe import DataFrame

from rocky.frames.frame_check import Frames
from rocky.frames.layers import every_layer
from rocky.language.binder.query import bind_text
from tests.frames.cases import CASES, TABLES
from tests.frames.examples import Example, run
from tests.frames.test_examples import KNOWN


def names_by_rule(frames: Frames, made: Any) -> list[tuple[str, list[str], list[str]]]:
    """Of each layer whose names follow from the code its SQL, these names, and the binder's."""
    plan = frames.lowered(made)
    found = []
    for layer in every_layer(plan.top):
        if layer.values is None or layer.body is None:
            continue
        bound = bind_text(layer.body.text, plan.lowering.tables)
        # Where the binder finds no columns at all, it has said why.
        if bound.known:
            own = [each.sql for each in layer.columns]
            found.append((layer.body.text, own, [each.name or "" for each in bound.columns]))
    return found


def differing(chosen: list[Example]) -> tuple[int, list[Any]]:
    count, wrong = 0, []
    for each in chosen:
        with Frames({}) as frames:

            def look(value: Any) -> None:
                nonlocal count
                if isinstance(value, DataFrame):
                    found = names_by_rule(frames, value)
                    count += len(found)
                    wrong.extend(one for one in found if one[1] != one[2])

            run(each, frames.session, look)
    return count, wrong


def test_names_that_follow_from_the_code_of_a_case_are_those_of_the_binder() -> None:
    count, wrong = 0, []
    for make in CASES.values():
        with warnings.catch_warnings(), Frames(TABLES) as frames:
            warnings.simplefilter("ignore")  # PySpark's advice about windows
            try:
                made = make(frames.session, frames.table("orders"), frames.table("customers"))
            except Exception:  # noqa: BLE001 - PySpark refuses some code by itself
                continue
            found = names_by_rule(frames, made)
            count += len(found)
            wrong += [each for each in found if each[1] != each[2]]

    assert [] == wrong
    assert count > 200


def test_names_that_follow_from_the_code_of_an_example_are_those_of_the_binder() -> None:
    count, wrong = differing(KNOWN[13::20])

    assert [] == wrong
    assert count > 50 or not KNOWN


@pytest.mark.exhaustive
def test_names_that_follow_from_the_code_of_any_example_are_those_of_the_binder() -> None:
    _, wrong = differing(KNOWN)

    assert [] == wrong


def test_the_binder_is_not_asked_about_layers_whose_names_follow_from_the_code() -> None:
    with Frames({"orders": "id bigint, status string", "notes": "id bigint, text string"}) as given:
        joined = given.orders.filter("id > 1").join(given.notes, "id", "left")
        named = (
            joined.withColumn("more", F.col("id") + 1)
            .groupBy("status")
            .agg(F.sum("more").alias("more"))
        )
        plan = given.lowered(named.union(named).orderBy("more").limit(3))
        late = [each.values for each in every_layer(plan.top) if each.values is not None]

        assert len(late) >= 6
        assert [] == [each for each in late if each.is_found]


def test_a_type_in_a_long_plan_is_found_without_a_deep_stack() -> None:
    with Frames({"orders": "id bigint"}) as given:
        frame = given.orders
        for at in range(120):
            frame = frame.withColumn(f"c{at}", F.col("id") + at)

        assert "bigint" == frame.schema["c119"].dataType.simpleString()


@pytest.mark.parametrize(
    ("make", "names"),
    [
        (lambda o: o.select("NAME", F.col("Id")), ["NAME", "Id"]),
        (lambda o: o.select(o["NAME"]), ["NAME"]),
        (lambda o: o.groupBy("NAME").count(), ["NAME", "count"]),
        (lambda o: o.toDF("A", "B").select("a"), ["a"]),
        (lambda o: o.orderBy("NAME"), ["id", "name"]),
    ],
)
def test_a_column_is_spelt_as_it_is_asked_for(make, names):
    with Frames({"orders": "id bigint, name string"}) as frames:
        found = frames.check(make(frames.orders))

    assert names == [each.name for each in found.columns]

"""What holds for every source and every copy: nothing is lost unannounced, nothing is announced
twice, and the SQL gives the types that were promised."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocky.compiler.check import check_sql
from rocky.language.datatypes import types as t
from rocky.language.datatypes.safe_casts import is_lossless
from rocky.language.datatypes.text import field_to_json
from rocky.pipelines.drift.decision import DriftDecision, GraceTerms, decide_drift
from rocky.pipelines.drift.projection import read_type
from tests.pipelines.drift.columns import NOW, TABLE

SCALARS = st.sampled_from(
    [
        *(t.BOOLEAN, t.TINYINT, t.SMALLINT, t.INT, t.BIGINT, t.FLOAT, t.DOUBLE, t.STRING),
        *(t.BINARY, t.DATE, t.TIMESTAMP, t.TIMESTAMP_NTZ, t.varchar(9)),
        *(t.decimal(10, 2), t.decimal(12, 2), t.decimal(12, 4), t.decimal(20, 0)),
    ]
)
NAMES = st.sampled_from(["a", "b", "C", "c", "odd name"])


def _structs(inner):
    fields = st.lists(st.tuples(NAMES, inner), min_size=1, max_size=3, unique_by=_key)
    return fields.map(lambda each: t.struct(tuple(t.StructField(n, k, True) for n, k in each)))


def _key(field):
    return field[0].lower()


TYPES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        inner.map(t.array),
        st.tuples(st.sampled_from([t.STRING, t.INT]), inner).map(lambda each: t.map_of(*each)),
        _structs(inner),
    ),
    max_leaves=4,
)
COLUMNS = st.lists(st.tuples(NAMES, TYPES), min_size=1, max_size=4, unique_by=_key).map(
    lambda each: tuple(t.StructField(name, kind, True) for name, kind in each)
)
MAYBE = st.one_of(st.none(), COLUMNS)
DAYS = st.integers(0, 10)


def copied(decision: DriftDecision) -> tuple[t.StructField, ...]:
    """The columns that the copy has afterwards."""
    return tuple(each.field for each in decision.projection)


@pytest.mark.slow
@given(COLUMNS, MAYBE, COLUMNS, DAYS)
def test_no_column_goes_and_no_value_is_lost_without_a_replacement(source, recorded, target, days):
    decision = decide_drift(source, recorded, target, (), GraceTerms(TABLE, (), NOW, days))
    after = {each.field.name: each.field.type for each in decision.projection}
    replaced = {each.column for each in decision.records if each.grade == "replace"}

    assert bool(replaced) == decision.replace
    for field in target:
        if field.name not in replaced:
            assert _holds(read_type(field.type), after[field.name])


@pytest.mark.slow
@given(COLUMNS, MAYBE, COLUMNS, DAYS)
def test_every_live_column_is_copied(source, recorded, target, days):
    decision = decide_drift(source, recorded, target, (), GraceTerms(TABLE, (), NOW, days))

    assert {each.name.lower() for each in source} <= {
        each.name.lower() for each in decision.projection
    }
    names = [each.name.lower() for each in decision.projection]
    assert len(names) == len(set(names))


@pytest.mark.slow
@given(COLUMNS, MAYBE, MAYBE, DAYS)
def test_the_sql_gives_the_types_that_are_promised(source, recorded, target, days):
    decision = decide_drift(source, recorded, target, (), GraceTerms(TABLE, (), NOW, days))
    schema = {"type": "struct", "fields": [field_to_json(each) for each in source]}
    checked = check_sql(f"SELECT {decision.select_list} FROM src", {"src": schema})

    assert [] == [each.message for each in checked.diagnostics]
    assert [(each.field.name, each.field.type) for each in decision.projection] == [
        (each.name, read_type(each.type)) for each in checked.columns
    ]


@pytest.mark.slow
@given(COLUMNS, MAYBE, COLUMNS, DAYS, st.floats(0, 9.9))
def test_looking_again_decides_the_same_until_the_period_ends(
    source, recorded, target, days, later
):
    first = decide_drift(source, recorded, target, (), GraceTerms(TABLE, (), NOW, days))
    again = decide_drift(
        source,
        source,
        copied(first),
        (),
        GraceTerms(TABLE, first.grace, NOW + timedelta(days=later), days),
    )

    assert set() == {each.grade for each in again.records} & {"add", "widen"}
    assert () == again.grace
    assert again.replace == bool(first.grace and later >= days)
    if not again.replace:
        assert () == again.ended


@pytest.mark.slow
@given(COLUMNS, COLUMNS, DAYS)
def test_after_the_last_period_the_copy_is_what_the_source_is(source, target, days):
    first = decide_drift(source, None, target, (), GraceTerms(TABLE, (), NOW, days))
    late = NOW + timedelta(days=days)
    settled = decide_drift(
        source, source, copied(first), (), GraceTerms(TABLE, first.grace, late, days)
    )
    calm = decide_drift(source, source, copied(settled), (), GraceTerms(TABLE, (), late, days))

    assert {each.name.lower() for each in source} == {each.name.lower() for each in copied(calm)}
    assert not calm.replace
    assert () == calm.grace


def _holds(before, after):
    """Whether a type has room for all of another; fields may have been added, in any order."""
    if is_lossless(before, after):
        return True
    match before, after:
        case t.StructType(), t.StructType():
            there = {each.name.lower(): each.type for each in after.fields}
            return all(_holds(each.type, there[each.name.lower()]) for each in before.fields)
        case t.ArrayType(), t.ArrayType():
            return _holds(before.element, after.element)
        case t.MapType(), t.MapType():
            return _holds(before.key, after.key) and _holds(before.value, after.value)
        case _:
            return False

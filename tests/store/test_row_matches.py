"""Which files hold the keys of some rows is found without Spark, and equals a look at every row."""

import math
from decimal import Decimal
from random import Random

import pyarrow as pa
import pytest

from rocky.language.datatypes.text import parse_schema
from rocky.store.parquet.row_matches import Matches, find_matches
from tests.store.tables import place, table_in

COLUMNS = tuple(parse_schema("a INT, b STRING, x DOUBLE, d DECIMAL(10,2)"))
ARROW = pa.schema(
    [("a", pa.int32()), ("b", pa.string()), ("x", pa.float64()), ("d", pa.decimal128(10, 2))]
)
KEYS, COMPARED = COLUMNS[:2], COLUMNS[2:]


def file_of(table, rows):
    columns = [
        pa.array(list(each), kind.type)
        for each, kind in zip(zip(*rows, strict=True), ARROW, strict=True)
    ]
    return place(table, pa.Table.from_arrays(columns, schema=ARROW))


def matches(table, rows, *files, keys=KEYS, compared=COMPARED):
    return find_matches(table, [file_of(table, rows)], files, keys, compared)


def same(one, other):
    return one == other or (
        isinstance(one, float)
        and isinstance(other, float)
        and math.isnan(one)
        and math.isnan(other)
    )


@pytest.mark.slow
def test_files_are_told_apart_as_by_a_look_at_every_row(tmp_path):
    table, random = table_in(tmp_path), Random(7)
    values = (None, 0.0, -0.0, 1.5, math.nan)
    decimals = (None, Decimal("1.00"), Decimal("1.01"))
    for _ in range(60):

        def row(key):
            return (*key, random.choice(values), random.choice(decimals))

        pool = [(a, b) for a in range(6) for b in ("", "k", "é")]
        ours = [row(key) for key in random.sample(pool, random.randint(1, 6))]
        held = [[row(random.choice([*pool, (None, "k")])) for _ in range(3)] for _ in range(3)]
        files = [file_of(table, rows) for rows in held]
        known = {each[:2]: each[2:] for each in ours}
        met, changed = set(), set()
        for file, rows in zip(files, held, strict=True):
            hits = [each for each in rows if each[:2] in known]
            met |= {file.name} if hits else set()
            if any(not all(map(same, each[2:], known[each[:2]])) for each in hits):
                changed.add(file.name)
        everywhere = {each[:2] for rows in held for each in rows}

        new = len(known.keys() - everywhere)
        expected = Matches(frozenset(met), frozenset(changed), new)
        assert expected == matches(table, ours, *files)


@pytest.mark.parametrize("key", ["a INT", "b STRING", "d DECIMAL(10,2)"])
def test_files_are_told_apart_by_a_single_key_as_by_a_look_at_every_row(tmp_path, key):
    table, random = table_in(tmp_path), Random(11)
    keys = tuple(parse_schema(key))
    at = ARROW.names.index(keys[0].name)
    compared = tuple(each for each in COLUMNS if each.name != keys[0].name)
    pools = ((1, 2, 3, 4), ("", "k", "é", "z"), (0.0,), tuple(map(Decimal, ("1", "2", "3", "4"))))

    def row(of_key):
        made = [random.choice(pool[:2]) for pool in pools]
        return (*made[:at], of_key, *made[at + 1 :])

    for _ in range(40):
        ours = [row(each) for each in random.sample(pools[at], random.randint(1, 3))]
        held = [[row(random.choice([*pools[at], None])) for _ in range(2)] for _ in range(3)]
        files = [file_of(table, rows) for rows in held]
        known = {each[at]: each for each in ours}
        hits = [[each for each in rows if each[at] in known] for rows in held]
        met = {file.name for file, found in zip(files, hits, strict=True) if found}
        changed = {
            file.name
            for file, found in zip(files, hits, strict=True)
            if any(each != known[each[at]] for each in found)
        }
        new = len(known.keys() - {each[at] for found in hits for each in found})

        expected = Matches(frozenset(met), frozenset(changed), new)
        assert expected == matches(table, ours, *files, keys=keys, compared=compared)


def test_two_rows_of_one_key_are_noticed(tmp_path):
    table = table_in(tmp_path)

    assert Matches(repeated=True) == matches(table, [(1, "k", 1.0, None), (1, "k", 2.0, None)])


@pytest.mark.parametrize(
    ("schema", "rows"),
    [
        ("a INT, b STRING", [(None, "k", 1.0, None)]),
        ("a INT, b STRING COLLATE UNICODE_CI", [(1, "k", 1.0, None)]),
        ("a INT, b CHAR(3)", [(1, "k", 1.0, None)]),
        ("x DOUBLE", [(1, "k", 1.0, None)]),
    ],
)  # fmt: skip
def test_nothing_is_said_of_keys_that_spark_compares_in_its_own_way(tmp_path, schema, rows):
    assert matches(table_in(tmp_path), rows, keys=tuple(parse_schema(schema))) is None


def test_a_column_that_a_file_lacks_is_null_in_it(tmp_path):
    table = table_in(tmp_path)
    old = place(table, pa.table({"a": pa.array([1], pa.int32()), "b": ["k"]}))

    assert not matches(table, [(1, "k", None, None)], old).changed
    assert {old.name} == matches(table, [(1, "k", 0.0, None)], old).changed


def test_a_file_that_is_gone_is_left_to_spark(tmp_path):
    table = table_in(tmp_path)
    gone = file_of(table, [(1, "k", 1.0, None)])
    table.objects.delete([f"{table.prefix}/{gone.path}"])

    assert matches(table, [(2, "k", 1.0, None)], gone) is None

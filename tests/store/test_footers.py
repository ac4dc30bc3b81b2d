"""Footers and the statistics made of them: a bound that is too tight loses rows."""

import io
import json
import math
from collections import Counter
from datetime import UTC, date, datetime
from decimal import Decimal
from operator import eq, ge, le, lt

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, QueryBuilder
from hypothesis import given, settings
from hypothesis import strategies as st

from rocky.language.datatypes import types
from rocky.language.datatypes.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    SMALLINT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    TINYINT,
    VARIANT,
    StructField,
    array,
    map_of,
    struct,
)
from rocky.store.data_file import NotParquet
from rocky.store.parquet.footer import (
    Footer,
    Group,
    Leaf,
    NullViolation,
    Repeated,
    null_violations,
    parse_footer,
)
from rocky.store.parquet.statistics import PREFIX, shortened_high, stats_of
from tests.store.parquet_files import footer_of, parquet_bytes, write_delta

SPARK = "parquet-mr version 1.16.0"


def column(datatype, nullable=True, name="c"):
    return StructField(name, datatype, nullable)


def stats_json(rows, *fields, **options):
    return json.loads(stats_of(footer_of(parquet_bytes(rows, fields, **options)), fields))


def bounds(datatype, *values, **options):
    found = stats_json([{"c": value} for value in values], column(datatype), **options)
    return found["minValues"].get("c"), found["maxValues"].get("c")


def float_bounds(*pairs, writer=SPARK):
    leaf = Leaf(pa.float64(), 0, pairs)
    found = json.loads(stats_of(Footer(3, writer, Group({"c": leaf})), [column(DOUBLE)]))
    return found["minValues"].get("c"), found["maxValues"].get("c")


# ---------------------------------------------------------------------------- bounds of each type


@pytest.mark.parametrize(
    ("datatype", "values", "expected"),
    [
        (TINYINT, (-128, 127), (-128, 127)),
        (SMALLINT, (3, -4), (-4, 3)),
        (INT, (None, 1), (1, 1)),
        (BIGINT, (-(2**63), 2**63 - 1), (-(2**63), 2**63 - 1)),
        (DATE, (date(1, 1, 1), date(9999, 12, 31)), ("0001-01-01", "9999-12-31")),
        (STRING, ("", "é"), ("", "é")),
        (types.char(3), ("a  ",), ("a  ", "a  ")),
        (types.varchar(3), ("abc",), ("abc", "abc")),
        (INT, (None, None), (None, None)),
        (BOOLEAN, (True, False), (None, None)),
        (BINARY, (b"a", b"b"), (None, None)),
        (types.string("UTF8_LCASE"), ("a", "B"), (None, None)),
        (types.interval("day", "second"), (1, 2), (None, None)),
    ],
)
def test_a_column_has_the_bounds_delta_keeps_for_its_type(datatype, values, expected):
    assert expected == bounds(datatype, *values)


def test_a_timestamp_is_rounded_outwards_to_milliseconds():
    early = datetime.fromisoformat("1969-12-31T23:59:59.999999")
    late = datetime.fromisoformat("2024-02-29T12:00:00.123001")

    assert ("1969-12-31T23:59:59.999", "2024-02-29T12:00:00.124") == bounds(
        TIMESTAMP_NTZ, late, early
    )
    assert ("1969-12-31T23:59:59.999Z", "2024-02-29T12:00:00.124Z") == bounds(
        TIMESTAMP, late.replace(tzinfo=UTC), early.replace(tzinfo=UTC)
    )


def test_a_time_no_reader_parses_has_no_bound():
    last = datetime.fromisoformat("9999-12-31T23:59:59.999999")
    far = pa.array([2**63 - 1, 0], pa.int64()).cast(pa.timestamp("us"))
    sink = io.BytesIO()
    pq.write_table(pa.table({"c": far}), sink, store_schema=False)
    found = json.loads(stats_of(footer_of(sink.getvalue()), [column(TIMESTAMP_NTZ)]))

    assert ("9999-12-31T23:59:59.999", None) == bounds(TIMESTAMP_NTZ, last)
    assert {"c": "1970-01-01T00:00:00.000"} == found["minValues"]
    assert {} == found["maxValues"]


def test_timestamps_of_96_bits_have_no_bounds():
    rows = [{"c": datetime(2024, 1, 1, tzinfo=UTC)}]
    data = parquet_bytes(rows, [column(TIMESTAMP)], use_deprecated_int96_timestamps=True)

    assert {} == json.loads(stats_of(footer_of(data), [column(TIMESTAMP)]))["maxValues"]


@pytest.mark.parametrize(
    ("precision", "scale", "values", "expected"),
    [
        (9, 2, ("-0.01", "1234567.89"), "-0.01 1234567.89"),
        (18, 0, ("5", "-999999999999999999"), "-999999999999999999 5"),
        (38, 10, ("0", "1234567890123456789012345678.0123456789"),
         "0.0000000000 1234567890123456789012345678.0123456789"),
        (38, 38, ("-0." + "9" * 38,), "-0." + "9" * 38 + " -0." + "9" * 38),
    ],
)  # fmt: skip
def test_a_decimal_is_a_plain_number_with_all_its_digits(precision, scale, values, expected):
    field = column(types.decimal(precision, scale))
    rows = [{"c": Decimal(value)} for value in values]
    text = stats_of(footer_of(parquet_bytes(rows, [field])), [field])
    found = json.loads(text, parse_float=str, parse_int=str)

    assert expected == f"{found['minValues']['c']} {found['maxValues']['c']}"


def test_the_bounds_of_long_decimals_are_those_of_all_row_groups():
    values = [Decimal(n) for n in (-5, 3, -700, 20)]

    assert (-700.0, 20.0) == bounds(types.decimal(38, 2), *values, row_group_size=1)


def test_a_row_group_of_nulls_does_not_hide_the_bounds_of_the_others():
    assert (1, 2) == bounds(INT, 1, None, 2, row_group_size=1)


def test_a_file_without_statistics_has_only_its_rows():
    found = stats_json([{"c": 1}], column(INT), write_statistics=False)

    assert {"numRecords": 1, "minValues": {}, "maxValues": {}, "nullCount": {}} == found


# ---------------------------------------------------------------------------- floats


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        ([(1.0, 2.0)], (1.0, 2.0)),
        ([(1.0, 2.0), (-3.5, 0.5)], (-3.5, 2.0)),
        ([(1.0, math.nan)], (None, None)),
        ([(math.nan, math.nan)], (None, None)),
        ([(1.0, 2.0), (3.0, math.nan)], (None, None)),
        ([(3.0, math.nan), (1.0, 2.0)], (None, None)),
        ([(-math.inf, 1.0)], (None, None)),
        ([(1.0, math.inf)], (None, None)),
    ],
)
def test_floats_have_bounds_unless_one_is_not_a_finite_number(pairs, expected):
    assert expected == float_bounds(*pairs)


@pytest.mark.parametrize("zeros", [(0.0, 0.0), (-0.0, -0.0), (-0.0, 0.0)])
def test_a_zero_bound_covers_both_zeros(zeros):
    low, high = float_bounds(zeros)

    assert "-0.0 0.0" == f"{low} {high}"


def test_a_writer_that_leaves_nan_out_of_its_bounds_is_not_believed():
    assert (None, None) == float_bounds((1.0, 2.0), writer="parquet-cpp-arrow version 26.0.1")
    assert (None, None) == bounds(FLOAT, 1.0, math.nan)


# ---------------------------------------------------------------------------- strings


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a" * 32, "a" * 32),
        ("a" * 33, "a" * 31 + "b"),
        ("a" * 31 + "\U0010ffff" * 3, "a" * 30 + "b"),
        ("\ud7ff" * 40, "\ud7ff" * 31 + "\ue000"),
        ("\U0010ffff" * 40, None),
    ],
)
def test_a_long_string_is_shortened_upwards(text, expected):
    assert expected == shortened_high(text)


@pytest.mark.slow
@given(st.text(min_size=PREFIX + 1), st.text())
def test_no_text_with_the_same_beginning_is_above_a_shortened_bound(text, end):
    high = shortened_high(text)

    assert high is None or (text[:PREFIX] + end).encode() < high.encode()
    assert high is None or len(high) <= PREFIX


def test_bytes_that_are_no_text_have_no_bounds():
    leaf = Leaf(pa.string(), 0, ((b"a", b"a\xff"),))
    found = json.loads(stats_of(Footer(1, SPARK, Group({"c": leaf})), [column(STRING)]))

    assert {} == found["minValues"]


# ---------------------------------------------------------------------------- the shape


def test_statistics_of_a_struct_are_nested_and_those_of_arrays_and_maps_left_out():
    inner = struct((column(INT, name="a.b"), column(array(INT), name="list")))
    fields = (
        column(struct((column(inner, name="in"), column(BOOLEAN, name="flag"))), name="s"),
        column(map_of(STRING, INT), name="m"),
        column(INT, name="s.in.a.b"),
    )
    rows = [
        {"s": {"in": {"a.b": 1, "list": [1]}, "flag": True}, "m": [("k", 1)], "s.in.a.b": 7},
        {"s": {"in": None, "flag": None}, "m": None, "s.in.a.b": None},
        {"s": None, "m": [], "s.in.a.b": 9},
    ]

    assert {
        "numRecords": 3,
        "minValues": {"s": {"in": {"a.b": 1}}, "s.in.a.b": 7},
        "maxValues": {"s": {"in": {"a.b": 1}}, "s.in.a.b": 9},
        "nullCount": {"s": {"in": {"a.b": 2}, "flag": 2}, "s.in.a.b": 1},
    } == stats_json(rows, *fields)


def test_only_the_first_32_leaves_have_statistics():
    struct_of_20 = struct(tuple(column(INT, name=f"f{n}") for n in range(20)))
    fields = [column(array(INT), name="list"), column(struct_of_20, name="s")]
    fields += [column(INT, name=f"c{n}") for n in range(20)]
    row = {"list": [1], "s": {f"f{n}": n for n in range(20)}} | {f"c{n}": n for n in range(20)}
    found = stats_json([row], *fields)

    assert ["s", *(f"c{n}" for n in range(11))] == list(found["minValues"])
    assert 20 == len(found["minValues"]["s"])


def test_partition_columns_have_no_statistics_because_the_log_has_their_values():
    fields = [column(INT, name="a"), column(INT, name="p")]
    footer = footer_of(parquet_bytes([{"a": 1, "p": 2}], fields))

    assert {"a": 1} == json.loads(stats_of(footer, fields, ["p"]))["minValues"]


@pytest.mark.parametrize("data", [b"", b"\x00" * 20, b"junk that is no footer at all"])
def test_a_footer_that_is_damaged_is_refused(data):
    with pytest.raises(NotParquet):
        parse_footer(data)


# ---------------------------------------------------------------------------- soundness

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=3).map(lambda text: text * 15)
MOMENTS = st.datetimes(*map(datetime.fromisoformat, ("0001-01-02", "9999-12-30")))
VALUES = {
    INT: st.integers(-(2**31), 2**31 - 1),
    BIGINT: st.integers(-(2**63), 2**63 - 1),
    DATE: st.dates(),
    TIMESTAMP: MOMENTS.map(lambda moment: moment.replace(tzinfo=UTC)),
    TIMESTAMP_NTZ: MOMENTS,
    STRING: TEXT,
    types.decimal(38, 10): st.decimals(-(10**27), 10**27, places=10),
    types.decimal(18, 4): st.decimals(-(10**13), 10**13, places=4),
    types.decimal(5, 0): st.integers(-99999, 99999).map(Decimal),
}
READ_BACK = {
    "date": date.fromisoformat,
    "timestamp": datetime.fromisoformat,
    "timestamp_ntz": datetime.fromisoformat,
    "string": str.encode,
    "decimal": Decimal,
}


@pytest.mark.slow
@given(data=st.data())
@settings(max_examples=150)
def test_every_value_lies_between_its_bounds(data):
    datatype = data.draw(st.sampled_from(list(VALUES)))
    values = data.draw(st.lists(st.none() | VALUES[datatype], min_size=1, max_size=12))
    rows = [{"c": value} for value in values]
    size = data.draw(st.integers(1, 12))
    footer = footer_of(parquet_bytes(rows, [column(datatype)], row_group_size=size))
    found = json.loads(stats_of(footer, [column(datatype)]), parse_float=str)
    read = READ_BACK.get(datatype.kind, lambda value: value)
    known = [
        value.encode() if datatype is STRING else value for value in values if value is not None
    ]

    assert len(values) == found["numRecords"]
    assert len(values) - len(known) == found["nullCount"]["c"]
    if known:
        assert read(found["minValues"]["c"]) <= min(known)
        high = found["maxValues"].get("c")
        assert high is None or max(known) <= read(high)


LITERALS = {
    "date": lambda value: f"DATE '{value.isoformat()}'",
    "timestamp": lambda value: (
        f"arrow_cast('{value.isoformat()}', 'Timestamp(Microsecond, Some(\"UTC\"))')"
    ),
    "timestamp_ntz": lambda value: (
        f"arrow_cast('{value.isoformat()}', 'Timestamp(Microsecond, None)')"
    ),
    "string": lambda value: "'" + value.replace("'", "''") + "'",
    "decimal": lambda value: f"arrow_cast('{value:f}', 'Decimal128(38, 10)')",
}


@given(data=st.data())
@settings(max_examples=60)
@pytest.mark.slow
def test_readers_that_skip_by_statistics_lose_no_rows(data, tmp_path_factory):
    datatype = data.draw(
        st.sampled_from([INT, DATE, TIMESTAMP, TIMESTAMP_NTZ, STRING, *list(VALUES)[6:7]])
    )
    parts = data.draw(
        st.lists(st.lists(VALUES[datatype], min_size=1, max_size=3), min_size=2, max_size=3)
    )
    everything = [value for part in parts for value in part]
    asked = data.draw(st.sampled_from(everything))
    folder = tmp_path_factory.mktemp("delta")
    numbered = [column(INT, name="part"), column(datatype)]
    write_delta(
        folder,
        numbered,
        [
            parquet_bytes([{"part": number, "c": value} for value in part], numbered)
            for number, part in enumerate(parts)
        ],
    )
    literal = LITERALS.get(datatype.kind, str)(asked)
    symbol, compare = data.draw(st.sampled_from([("=", eq), ("<=", le), (">=", ge), ("<", lt)]))
    expected = Counter(value for value in everything if compare(value, asked))
    delta = DeltaTable(folder)

    found = (
        QueryBuilder().register("t", delta).execute(f"SELECT c FROM t WHERE c {symbol} {literal}")
    )
    assert expected == Counter(pa.table(found.read_all())["c"].to_pylist())
    dataset = delta.to_pyarrow_dataset()
    scalar = pa.scalar(asked, dataset.schema.field("c").type)
    kept = dataset.to_table(filter=compare(pc.field("c"), scalar))
    assert expected == Counter(kept["c"].to_pylist())
    frame = pl.scan_delta(str(folder))
    lazy = frame.filter(compare(pl.col("c"), pl.lit(asked, frame.collect_schema()["c"])))
    assert expected == Counter(lazy.collect()["c"].to_list())


def test_a_long_text_of_rare_characters_is_found_by_readers_that_skip(tmp_path):
    text = "\U00020000" * 15
    fields = [column(INT, name="part"), column(STRING)]
    parts = [parquet_bytes([{"part": n, "c": each}], fields) for n, each in enumerate((text, ""))]
    write_delta(tmp_path, fields, parts)

    found = DeltaTable(tmp_path).to_pyarrow_dataset().to_table(filter=pc.field("c") == text)

    assert [text] == found["c"].to_pylist()


# ---------------------------------------------------------------------------- NOT NULL

REQUIRED_PAIR = struct((column(INT, False, "a"), column(INT, True, "b")))


def test_a_required_leaf_that_holds_nulls_is_named_with_its_rows():
    written = [column(INT, name="a"), column(INT, name="b"), column(STRING, name="c")]
    footer = footer_of(parquet_bytes([{"a": 1}, {"a": 2, "b": 3}], written))
    declared = [column(INT, False, "a"), column(INT, False, "b"), column(STRING, True, "c")]

    assert [NullViolation(("b",), 1)] == null_violations(footer, declared)


def test_a_required_field_of_a_required_struct_is_decided_by_the_footer():
    written = [column(struct((column(INT, name="a"), column(INT, name="b"))), name="s")]
    declared = [column(REQUIRED_PAIR, False, "s")]
    missing = footer_of(parquet_bytes([{"s": None}, {"s": {"a": 1}}], written))
    whole = footer_of(parquet_bytes([{"s": {"a": 1}}], written))

    assert [NullViolation(("s", "a"), 1)] == null_violations(missing, declared)
    assert [] == null_violations(whole, declared)


def test_a_required_column_whose_nulls_are_not_counted_is_in_doubt():
    footer = footer_of(parquet_bytes([{"c": 1}], [column(INT)], write_statistics=False))

    assert [NullViolation(("c",), None)] == null_violations(footer, [column(INT, False)])


def test_a_required_variant_is_decided_by_its_metadata():
    rows = [{"c": {"metadata": b"\x01\x00\x00", "value": b"\x00"}}, {"c": None}]
    footer = footer_of(parquet_bytes(rows, [column(VARIANT)]))

    assert [NullViolation(("c",), 1)] == null_violations(footer, [column(VARIANT, False)])


def test_the_nulls_of_an_array_are_not_those_of_its_rows():
    rows = [{"c": []}, {"c": None}, {"c": [1, None]}]

    assert Repeated(3) == footer_of(parquet_bytes(rows, [column(array(INT))])).columns.fields["c"]

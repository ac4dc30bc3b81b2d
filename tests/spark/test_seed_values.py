"""Whether a cell is a value of its column's type: Rocky's answer is Spark's."""

import random
from collections.abc import Iterator
from itertools import zip_longest

import pyarrow as pa
import pytest

import rocky
from rocky.language.datatypes.text import parse_type
from rocky.project.seed_types import infer_types
from rocky.project.seed_values import example_of, fits_of
from tests.spark.projects import write_files

pytestmark = pytest.mark.spark

TYPES = (
    "tinyint", "smallint", "int", "bigint", "float", "double", "decimal(5,2)", "decimal(38,0)", "decimal(10,10)",
    "decimal(18,2)", "boolean", "date", "timestamp", "timestamp_ntz",
)  # fmt: skip
FORMS = (
    "0", "1", "-1", "+1", "00012", "127", "128", "-128", "-129", "32767", "32768", "2147483647", "2147483648",
    "-2147483648", "-2147483649", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
    "-9223372036854775809", "99999999999999999999999999", "12.0", "12.", ".5", ".", "-", "+", "1e3", "1E3", "1e-3",
    "1e400", "1e-400", "1d", "1f", "1D", "1L", "0x10", "0x1p3", "0x1.8p1", "NaN", "nan", "NAN", "-nan", "+NaN",
    "-NaN", "inf", "Inf", "-Inf", "+inf", "Infinity", "-infinity", "+Infinity", "INF", "infinit", "1,000", "1_000",
    " 12", "12 ", " 12 ", "\t12", "12\n", "\x0012", "12\x7f", "12\xa0", "\u200912", "\uff11\uff12", "\u0663", "1 2",
    "--1", "+-1", "1-", "abc", "true", "TRUE", "True", "t", "T", "y", "Y", "yes", "YES", "n", "no", "f", "false",
    "F", "1.5", "on", "off", "tru", "null", "NULL", "12.345", "12.344", "999.99", "999.995", "999.994", "1000",
    "-999.99", "-1000", "0.001", "0.004", "0.005", "99999999999999999999999999999999999999",
    "100000000000000000000000000000000000000", "0.9999999999", "0.99999999999", "1e37", "1e38", "1e39", "0e99",
    "0e400", "1e-50", "1e9999999999", "12e", "e12", "2020", "2020-1", "2020-01", "2020-1-1", "2020-01-01",
    "2020-02-30", "2020-02-29", "2019-02-29", "2020-13-01", "2020-00-01", "2020-01-00", "2020-01-32", "20200101",
    "2020/01/01", "01-01-2020", "2020-01-01 ", "2020-01-01T", "2020-01-01 abc", "2020-01-01Tabc", "2020-01-01x",
    "2020-01-", "2020-", "-2020-01-01", "+2020-01-01", "12020-01-01", "1234567-01-01", "12345678-01-01",
    "0000-01-01", "0001-01-01", "9999-12-31", "300000-01-01", "999999-01-01", "020-01-01", "2020-001-01",
    "2020-01-01 10", "2020-01-01 10:20", "2020-01-01 10:20:30", "2020-01-01T10:20:30", "2020-01-01 10:20:30.",
    "2020-01-01 10:20:30.1", "2020-01-01 10:20:30.123456", "2020-01-01 10:20:30.1234567890", "2020-01-01 24:00:00",
    "2020-01-01 23:60:00", "2020-01-01 23:59:60", "2020-01-01 1:2:3", "2020-01-01 010:20", "2020-01-01 10:20:30Z",
    "2020-01-01T10:20:30Z", "2020-01-01 10:20:30 Z", "2020-01-01 10:20:30+01:00", "2020-01-01 10:20:30+0100",
    "2020-01-01 10:20:30+01", "2020-01-01 10:20:30+1", "2020-01-01 10:20:30+1:0", "2020-01-01 10:20:30+25:00",
    "2020-01-01 10:20:30 Europe/Paris", "2020-01-01 10:20:30Europe/Paris", "2020-01-01 10:20:30 Nowhere",
    "2020-01-01 10:20:30 UTC", "2020-01-01 10:20:30 UTC+1", "2020-01-01 10:20:30 EST", "2020-01-01 10:20:30 PST8PDT",
    "2020-01-01 10:20:30 abc", "2020-01-01 10:20:30 1", "2020-01-01Z", "2020-01-01+01:00", "2020-01-01 Z",
    "2020-01-01T10", "T10:20:30", "10:20:30", "10:20", "10", "T10", "10:20:30.5", "10:20:30Z", "t10:20",
    "2020-01-01t10:20:30", "2020-01-01  10:20", "2020-01-01 10:20:30  ", "2020-01-01 10:20:30.123Z",
    "2020-01-01 10:", "2020-01-01 10:20:", "2020-01-01 10:20:30.1.2", "2020-01Z", "2020Z", "2020 10:20", "now",
    "today", "epoch", "tomorrow", "1e2-01-01", "2020-01-01T10:20:30+01:00:30", "2020--01", ":", "::", "2020-01-01 :",
    "Z", "2020-01-01 -1:00",
)  # fmt: skip
LETTERS = "0123456789+-.:eETZ /dfNanIix"


def near(form: str, dice: random.Random) -> Iterator[str]:
    """Texts that differ from a form in one character."""
    for _ in range(4):
        at = dice.randrange(len(form))
        yield form[:at] + dice.choice(LETTERS) + form[at:]
        yield form[:at] + form[at + 1 :]
        yield form[:at] + dice.choice(LETTERS) + form[at + 1 :]


@pytest.fixture(scope="module")
def answers(spark):
    """Every text with what Spark says of it: whether it is a value of each type."""
    dice = random.Random(7)
    texts = {*FORMS, *(text for form in FORMS for text in near(form, dice) if text)}
    frame = spark.createDataFrame(pa.table({"text": sorted(texts)}))
    asked = [f"try_cast(text AS {kind}) IS NOT NULL" for kind in TYPES]
    return {row[0]: tuple(row[1:]) for row in frame.selectExpr("text", *asked).collect()}


@pytest.mark.parametrize("kind", TYPES)
def test_a_cell_is_a_value_exactly_if_spark_casts_it(answers, kind):
    fits, place = fits_of(parse_type(kind)), TYPES.index(kind)

    refused_here = [text for text, said in answers.items() if said[place] and not fits(text)]
    taken_here = [text for text, said in answers.items() if not said[place] and fits(text)]

    assert [] == refused_here
    # Names of time zones are left to Spark.
    assert [] == [text for text in taken_here if not _names_zone(text)]


def _names_zone(text: str) -> bool:
    return text.count(":") >= 2 and any(each.isalpha() for each in text.partition(":")[2])


def test_what_is_inferred_and_what_is_advised_are_values(answers):
    for text, said in answers.items():
        kind = infer_types([text])
        if kind.text in TYPES:
            assert (text, True) == (text, said[TYPES.index(kind.text)])
    for kind in map(parse_type, TYPES):
        assert fits_of(kind)(example_of(kind))


def test_a_seed_that_compiles_loads(tmp_path, spark):
    """All texts that are taken, each in a column of its type, are loaded by a run."""
    taken = [
        [text for text in FORMS if fits_of(parse_type(kind))(text) and not _names_zone(text)]
        for kind in TYPES
    ]
    rows = [[f'"{cell}"' for cell in row] for row in zip_longest(*taken, fillvalue="")]
    names = [f"c{place}" for place in range(len(TYPES))]
    declared = [f'{{ name = "c{place}", type = "{kind}" }}' for place, kind in enumerate(TYPES)]
    files = {
        "models/m.sql": "SELECT 1 AS one\n",
        "seeds/s.csv": "\n".join([",".join(names), *map(",".join, rows), ""]),
        "seeds/s.toml": f"columns = [ {', '.join(declared)} ]\n",
    }
    root = write_files(tmp_path, files)

    (loaded,) = rocky.open(root, spark=spark).seed().seeds

    assert (None, len(rows)) == (loaded.error, loaded.rows)

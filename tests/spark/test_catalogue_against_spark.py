import json
import random

import pytest
from pyspark.errors import PySparkException

from rocky.language.datatypes.text import fields_from_json
from rocky.language.datatypes.types import UNKNOWN
from rocky.language.functions.catalogue import (
    SPARK_VERSION,
    FunctionInfo,
    all_names,
    find_function,
    type_call,
)
from rocky.language.functions.operand import Operand, Refusal
from tests.language.functions.special_cases import ask
from tools.function_catalogue.probes import CLASSES, NULLABLE, Probe, view_schema

pytestmark = pytest.mark.spark

SAMPLE = 300
SKIPPED_KINDS = {"generator", "table"}
SKIPPED = {"grouping", "grouping_id"}


def sample() -> list[tuple[FunctionInfo, tuple[Probe, ...]]]:
    """Calls the catalogue claims to know, half of them taken and half refused."""
    chance = random.Random(41)
    taken: list[tuple[FunctionInfo, tuple[Probe, ...]]] = []
    refused: list[tuple[FunctionInfo, tuple[Probe, ...]]] = []
    infos = [info for name in all_names() if (info := find_function(name)) is not None]
    infos = [info for info in infos if info.kind not in SKIPPED_KINDS and info.name not in SKIPPED]
    while len(taken) + len(refused) < SAMPLE:
        info = chance.choice(infos)
        counts = [int(text) for text in info.stored]
        count = chance.choice(counts) if counts else 0
        signature = info.signature(count)
        if signature is None or signature.foldable:
            continue
        probes = tuple(_nullable(chance, chance.choice(CLASSES)) for _ in range(count))
        found = ask(type_call, info, [_operand(probe) for probe in probes])
        side = refused if isinstance(found, Refusal) else taken
        if len(side) < SAMPLE // 2 and (isinstance(found, Refusal) or found[0] is not UNKNOWN):
            side.append((info, probes))
    return taken + refused


def _nullable(chance: random.Random, probe: Probe) -> Probe:
    return NULLABLE.get(probe.sql, probe) if chance.random() < 0.3 else probe


def _operand(probe: Probe) -> Operand:
    return Operand(probe.type, probe.nullable, foldable=probe.foldable)


@pytest.fixture(scope="module")
def probes(spark):
    schema = spark._jvm.org.apache.spark.sql.types.DataType.fromJson(json.dumps(view_schema()))
    before = spark.conf.get("spark.sql.timeType.enabled")
    spark.conf.set("spark.sql.timeType.enabled", "true")
    frame = spark._jsparkSession.createDataFrame(spark._jvm.java.util.ArrayList(), schema)
    frame.createOrReplaceTempView("probes")
    yield spark
    spark.catalog.dropTempView("probes")
    spark.conf.set("spark.sql.timeType.enabled", before)


def _answer(spark, info: FunctionInfo, arguments: tuple[Probe, ...]) -> tuple[str, bool] | str:
    over = " OVER (ORDER BY c4)" if info.kind == "window" else ""
    call = f"`{info.name}`({', '.join(probe.sql for probe in arguments)}){over}"
    try:
        schema = spark._jsparkSession.sql(f"SELECT {call} AS r FROM probes").schema().json()
    except PySparkException as error:
        return str(error.getCondition())
    field = fields_from_json(json.loads(schema))[0]
    return str(field.type), field.nullable


def test_the_catalogue_is_of_the_spark_it_is_compared_with(probes):
    assert probes.version.startswith(SPARK_VERSION + ".")


def test_spark_answers_a_sample_of_calls_as_the_catalogue_does(probes):
    expected, actual = {}, {}
    for info, arguments in sample():
        call = f"{info.name}({', '.join(str(probe.type) for probe in arguments)})"
        found = ask(type_call, info, [_operand(probe) for probe in arguments])
        expected[call] = _answer(probes, info, arguments)
        actual[call] = found.condition if isinstance(found, Refusal) else (str(found[0]), found[1])
    different = {
        call: (expected[call], actual[call]) for call in expected if expected[call] != actual[call]
    }

    assert different == {}

"""A schema read off a sample is the one Spark reads; the expectations are Spark's."""

import pytest

from rocky.language.datatypes import types as t
from rocky.language.functions.operand import NO_VALUE, Operand
from rocky.language.functions.special import SPECIAL
from rocky.language.functions.special.inference import fold_call
from tests.language.functions.special_cases import answer, ask


def read_with(reader: str, finder: str, sample: str) -> str:
    schema = fold_call(finder, [Operand(t.STRING, False, sample, True)])
    text = Operand(t.STRING, True)
    return answer(ask(SPECIAL[reader], reader, [text, Operand(t.STRING, False, schema, True)]))


@pytest.mark.parametrize(
    ("sample", "expected"),
    [
        ('{"a":1,"B":2.5,"c":null,"f":[]}', "struct<B:double,a:bigint,c:string,f:array<string>>"),
        ('[{"a":1},{"b":2}]', "array<struct<a:bigint,b:bigint>>"),
        ('[1,2,"a"]', "array<string>"),
        ("[1,12345678901234567890]", "array<decimal(20,0)>"),
        ('{"a":1,"a":"x"}', "struct<a:bigint,a:string>"),
        ('{"a b":1}', "struct<a b:bigint>"),
        ("1", "refused DATATYPE_MISMATCH.INVALID_JSON_SCHEMA"),
    ],
)
def test_the_schema_of_a_json_sample_is_sparks(sample, expected):
    assert expected == read_with("from_json", "schema_of_json", sample)


@pytest.mark.parametrize(
    ("sample", "expected"),
    [
        ("1,abc", "struct<_c0:int,_c1:string>"),
        (
            "1.5,2020-01-01,true,",
            "struct<_c0:double,_c1:date,_c2:boolean,_c3:string>",
        ),
        (
            "9999999999,2020-01-01 10:00:00,100000000000000000000",
            "struct<_c0:bigint,_c1:timestamp,_c2:decimal(21,0)>",
        ),
        ('"x,y",-1', "struct<_c0:string,_c1:int>"),
    ],
)
def test_the_schema_of_a_csv_sample_is_sparks(sample, expected):
    assert expected == read_with("from_csv", "schema_of_csv", sample)


def test_a_sample_that_is_no_json_has_no_value():
    assert NO_VALUE is fold_call("schema_of_json", [Operand(t.STRING, False, "{bad", True)])

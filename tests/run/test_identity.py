"""What a model was made from is one hash that anyone can compute again, or none."""

import subprocess
from dataclasses import replace

import pytest
from blake3 import blake3

from rocky.language.datatypes.text import parse_type
from rocky.language.datatypes.types import StructField
from rocky.language.ir import SkipHash
from rocky.ledger.provenance import SourceFile, content_hash, source_hash
from rocky.run.engine.protocol import SourcePin
from rocky.run.prepare.pins import (
    Identity,
    identify_inline,
    identify_rows,
    identify_source,
    identify_table,
    input_hash,
)
from rocky.store.data_file import DataFile
from rocky.store.delta.snapshot import ROWS_HASH, Snapshot

SKIP = SkipHash("5" * 64)
HOW = "d" * 64


def snapshot(*addresses: str, rows_hash: str = "", columns: str = "a b") -> Snapshot:
    files = tuple(DataFile(f"{each}.parquet", 1, 1, "", {}, 0) for each in addresses)
    schema = tuple(StructField(name, parse_type("int"), True) for name in columns.split())
    return Snapshot(0, schema, (), files, {ROWS_HASH: rows_hash}, {}, "id", 0)


def source(pin: SourcePin, *files: SourceFile, declared: str = HOW) -> Identity | None:
    return identify_source("raw", pin, files, declared)


def test_a_table_of_one_file_has_the_hash_of_that_file():
    assert "a" * 64 == content_hash(["a" * 64])


def test_a_table_of_several_files_has_the_hash_of_their_sorted_list():
    listed = subprocess.run(
        ["sort"], input="b\na\n", text=True, capture_output=True, check=True
    ).stdout

    assert blake3(listed.encode()).hexdigest() == content_hash(["b", "a"])


def test_an_empty_table_has_the_hash_of_nothing():
    assert blake3(b"").hexdigest() == content_hash([])


def test_the_input_hash_is_that_of_the_documented_json():
    one, two = "1" * 64, "2" * 64
    columns = blake3(
        b'[{"metadata":{},"name":"a","nullable":true,"type":"integer"},'
        b'{"metadata":{},"name":"b","nullable":true,"type":"integer"}]'
    ).hexdigest()
    upstreams = [identify_table("c.s.b", snapshot(two)), identify_table("c.s.a", snapshot(one))]
    text = (
        '{"skip_hash":"' + SKIP + '","target":"c.s.t","upstreams":['
        f'{{"blake3_hash":"{one}","columns":"{columns}","kind":"content","upstream_key":"c.s.a"}},'
        f'{{"blake3_hash":"{two}","columns":"{columns}","kind":"content","upstream_key":"c.s.b"}}'
        '],"version":1}'
    )

    assert (blake3(text.encode()).hexdigest(), "strong") == input_hash(SKIP, "c.s.t", upstreams)


def test_a_table_with_files_of_other_tools_is_known_by_their_list_only():
    found = identify_table("c.s.a", snapshot("1" * 64, "part-00000-a1b2"))

    assert ("listing", "heuristic") == (found.kind, found.proof)


def test_a_model_that_reads_nothing_has_a_strong_hash():
    assert "strong" == input_hash(SKIP, "c.s.t", [])[1]


def test_a_source_whose_files_were_hashed_makes_the_proof_strong():
    pin = SourcePin((("a.csv", 3, 4),))
    found = source(pin, SourceFile("a.csv", 3, "1" * 64))

    assert Identity(
        "content", "raw", source_hash([("a.csv", "1" * 64)]), "strong", ("declaration_hash", HOW)
    ) == (found)
    assert "strong" == input_hash(SKIP, "c.s.t", [found])[1]


def test_a_file_that_was_not_hashed_makes_the_proof_heuristic():
    pin = SourcePin((("b.csv", 1, 2), ("a.csv", 3, 4)))
    files = (SourceFile("b.csv", 1), SourceFile("a.csv", 3, "1" * 64))

    assert "heuristic" == input_hash(SKIP, "c.s.t", [source(pin, *files)])[1]


def test_the_order_in_which_files_are_listed_does_not_matter():
    one, two = ("a.csv", 1, 2), ("b.csv", 3, 4)

    assert source(SourcePin((one, two))) == source(SourcePin((two, one)))
    assert source_hash([("a", "1"), ("b", "2")]) == source_hash([("b", "2"), ("a", "1")])


def test_a_file_written_again_changes_the_listing():
    assert source(SourcePin((("a.csv", 3, 4),))) != source(SourcePin((("a.csv", 3, 5),)))


def test_a_renamed_file_changes_the_content_of_a_source():
    assert source_hash([("day=1/a", "1")]) != source_hash([("day=2/a", "1")])


def test_a_source_that_is_read_in_another_way_is_another():
    pin = SourcePin(version="7 of t")

    assert source(pin) != source(pin, declared="e" * 64)


def test_a_version_makes_the_proof_strong():
    assert "strong" == input_hash(SKIP, "c.s.t", [source(SourcePin(version="7 of t"))])[1]


def test_a_source_that_shows_nothing_has_no_identity():
    assert None is source(SourcePin(bytes=10))
    assert (None, None) == input_hash(SKIP, "c.s.t", [None])


def test_a_query_is_as_sure_as_what_it_reads():
    assert "heuristic" == input_hash(SKIP, "t", [identify_inline("v", "1", "heuristic")])[1]
    assert "strong" == input_hash(SKIP, "t", [identify_inline("v", "1", "strong")])[1]
    assert None is identify_inline("v", None, None)


def test_the_same_files_with_another_column_are_another_table():
    one = "1" * 64

    assert identify_table("t", snapshot(one)) != identify_table("t", snapshot(one, columns="a b c"))


def test_rows_are_the_same_in_other_files():
    assert identify_rows("t", snapshot("1", rows_hash="f")) == identify_rows(
        "t", snapshot("2", "3", rows_hash="f")
    )


def test_rows_under_other_names_are_others():
    assert identify_rows("t", snapshot("1", rows_hash="f")) != identify_rows(
        "t", snapshot("1", rows_hash="f", columns="b a")
    )


@pytest.mark.parametrize("kind", ["map<string,int>", "struct<a:array<map<int,int>>>", "variant"])
def test_rows_that_a_query_can_tell_apart_and_the_hash_cannot_have_no_identity(kind):
    found = snapshot("1", rows_hash="f")
    seen = replace(found, schema=(*found.schema, StructField("m", parse_type(kind), True)))

    assert None is identify_rows("t", seen)


def test_rows_without_a_hash_have_no_identity():
    assert None is identify_rows("t", snapshot("1"))

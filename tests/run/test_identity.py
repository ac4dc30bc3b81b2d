import subprocess

import pytest
from blake3 import blake3

from rocky.ir.fingerprint import SkipHash
from rocky.run.engine import SourcePin
from rocky.run.identity import (
    Identity,
    content_hash,
    identify_files,
    identify_inline,
    identify_source,
    input_hash,
)
from rocky.store.files import DataFile

SKIP = SkipHash("5" * 64)


def files(*addresses: str) -> list[DataFile]:
    return [DataFile(f"{each}.parquet", 1, 1, "", {}, 0) for each in addresses]


def test_a_table_of_one_file_has_the_hash_of_that_file():
    assert "a" * 64 == content_hash(files("a" * 64))


def test_a_table_of_several_files_has_the_hash_of_their_sorted_list():
    listed = subprocess.run(
        ["sort"], input="b\na\n", text=True, capture_output=True, check=True
    ).stdout

    assert blake3(listed.encode()).hexdigest() == content_hash(files("b", "a"))


def test_an_empty_table_has_the_hash_of_nothing():
    assert blake3(b"").hexdigest() == content_hash([])


def test_the_input_hash_is_that_of_the_documented_json():
    upstreams = [identify_files("c.s.b", files("2")), identify_files("c.s.a", files("1"))]
    text = (
        '{"skip_hash":"' + SKIP + '","target":"c.s.t","upstreams":['
        '{"blake3_hash":"1","kind":"content","upstream_key":"c.s.a"},'
        '{"blake3_hash":"2","kind":"content","upstream_key":"c.s.b"}],"version":1}'
    )

    assert (blake3(text.encode()).hexdigest(), "strong") == input_hash(SKIP, "c.s.t", upstreams)


def test_a_model_that_reads_nothing_has_a_strong_hash():
    assert "strong" == input_hash(SKIP, "c.s.t", [])[1]


def test_a_source_known_by_its_files_makes_the_proof_heuristic():
    pin = SourcePin((("b.csv", 1, 2), ("a.csv", 3, 4)))

    assert "heuristic" == input_hash(SKIP, "c.s.t", [identify_source("raw", pin)])[1]


def test_the_order_in_which_files_are_listed_does_not_matter():
    one, two = ("a.csv", 3, 4), ("b.csv", 1, 2)

    assert identify_source("raw", SourcePin((one, two))) == identify_source(
        "raw", SourcePin((two, one))
    )


@pytest.mark.parametrize("changed", [("c.csv", 3, 4), ("a.csv", 5, 4), ("a.csv", 3, 5)])
def test_a_file_with_another_name_size_or_time_is_another_input(changed):
    before = identify_source("raw", SourcePin((("a.csv", 3, 4),)))

    assert before != identify_source("raw", SourcePin((changed,)))


def test_a_source_with_a_version_is_known_by_it():
    assert Identity("version", "raw", "7", strong=False) == identify_source(
        "raw", SourcePin(version="7")
    )


def test_a_source_that_could_change_unseen_leaves_no_hash_at_all():
    assert None is identify_source("raw", SourcePin(bytes=10))
    assert (None, None) == input_hash(SKIP, "c.s.t", [None])


def test_a_query_in_place_of_a_table_is_as_sure_as_what_it_is_made_from():
    assert "heuristic" == input_hash(SKIP, "t", [identify_inline("v", "1", "heuristic")])[1]
    assert "strong" == input_hash(SKIP, "t", [identify_inline("v", "1", "strong")])[1]
    assert None is identify_inline("v", None, None)

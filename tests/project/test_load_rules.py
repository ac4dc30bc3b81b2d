"""Settings of load and snapshot pipelines that would do nothing, or harm, are named."""

import tomllib

import pytest

from rocky.project.configuration.config import read_config

LOAD = 'type = "load"\nsource_dir = "{folder}"\ntarget = {{ catalog = "c", schema = "s" }}\n'
SNAPSHOT = (
    'type = "snapshot"\nunique_key = [{key}]\nupdated_at = "at"\n'
    'source = {{ catalog = "c", schema = "s", table = "t"{adapter} }}\n'
    'target = {{ catalog = "C", schema = "s", table = "{table}" }}\n'
)


def problems_of(text):
    found = []
    read_config(tomllib.loads(f"[pipeline.p]\n{text}"), found)
    return [(".".join(map(str, each.keys[2:])), each.message) for each in found]


@pytest.mark.parametrize(
    ("more", "place", "said"),
    [
        ("options = { batch_size = 5 }", "options.batch_size", "is not supported"),
        ('options = { csv_delimiter = "::" }', "options.csv_delimiter", "one character"),
        (
            'format = "parquet"\noptions = { csv_has_header = false }',
            "options.csv_has_header",
            "has no effect with",
        ),
    ],
)
def test_an_option_of_a_load_that_does_nothing_is_named(more, place, said):
    ((where, message),) = problems_of(LOAD.format(folder="in") + more)

    assert place == where
    assert said in message


@pytest.mark.parametrize("folder", ["s3://bucket/in", ""])
def test_a_load_reads_a_folder(folder):
    assert ["source_dir"] == [where for where, _ in problems_of(LOAD.format(folder=folder))]


def test_a_load_of_all_options_is_no_problem():
    more = 'format = "csv"\noptions = { csv_delimiter = "|", truncate_first = true }'

    assert [] == problems_of(LOAD.format(folder="in") + more)


@pytest.mark.parametrize(
    ("key", "adapter", "table", "place"),
    [
        ("", "", "u", "unique_key"),
        ('"id"', ', adapter = "other"', "u", "source.adapter"),
        ('"id"', "", "T", "target.table"),
    ],
)
def test_a_snapshot_that_cannot_be_kept_is_named(key, adapter, table, place):
    text = SNAPSHOT.format(key=key, adapter=adapter, table=table)

    assert [place] == [where for where, _ in problems_of(text)]


def test_a_plain_snapshot_is_no_problem():
    assert [] == problems_of(SNAPSHOT.format(key='"id"', adapter="", table="u"))

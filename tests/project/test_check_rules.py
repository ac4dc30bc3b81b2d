"""Checks that would do nothing are named before anything runs."""

import tomllib

import pytest

from rocky.project.configuration.config import read_config

HEADS = {
    "transformation": 'models = "models/**"\n',
    "replication": 'strategy = "full_refresh"\nsource.schema_pattern = { prefix = "src__", separator = "__", components = ["tenant"] }\ntarget = { catalog_template = "lake", schema_template = "{tenant}" }\n',
    "quality": 'tables = [ { catalog = "lake", schema = "acme" } ]\n',
    "snapshot": 'unique_key = ["id"]\nupdated_at = "at"\nsource = { catalog = "c", schema = "s", table = "t" }\ntarget = { catalog = "c", schema = "s", table = "u" }\n',
    "load": 'source_dir = "data"\ntarget = { catalog = "lake", schema = "raw" }\n',
}  # fmt: skip


def problems_of(kind, checks):
    text = f'[pipeline.p]\ntype = "{kind}"\n{HEADS[kind]}[pipeline.p.checks]\n{checks}'
    found = []
    read_config(tomllib.loads(text), found)
    return [(".".join(map(str, each.keys[2:])), each.message) for each in found]


@pytest.mark.parametrize(
    ("kind", "checks"),
    [
        ("replication", 'enabled = true\nrow_count = true\ncolumn_match = { severity = "warning" }\nfreshness = { threshold_seconds = 5, overrides = { a = 1 } }\n'),
        ("replication", 'enabled = true\ncross_source_overlap = { keys = ["id"] }\nanomaly_threshold_pct = 0\nflat_line_runs = 0\n'),
        ("quality", 'enabled = true\nfreshness = { threshold_seconds = 5, timestamp_column = "at" }\n'),
        ("quality", 'enabled = true\nquarantine = { enabled = true }\nassertions = [ { type = "not_null", column = "id" } ]\n'),
        ("snapshot", "enabled = true\nfreshness = { threshold_seconds = 5 }\n"),
        ("load", "enabled = false\nrow_count = true\n"),
        ("quality", "enabled = true\ncolumn_match = false\n"),
        ("replication", 'enabled = true\ncustom = [ { name = "a", sql = "SELECT count(*) FROM {source}" } ]\n'),
    ],
)  # fmt: skip
def test_checks_that_can_be_run_are_no_problem(kind, checks):
    assert [] == problems_of(kind, checks)


@pytest.mark.parametrize(
    ("kind", "checks", "place", "message"),
    [
        ("replication", "row_count = true\n", "checks", "checks are set and not enabled"),
        ("quality", "enabled = true\ncolumn_match = true\n", "checks.column_match", "`column_match` compares a copy with its source, and a quality pipeline makes none"),
        ("load", "enabled = true\nfreshness = { threshold_seconds = 5 }\n", "checks.freshness", "`freshness` of a load pipeline needs `timestamp_column`"),
        ("replication", 'enabled = true\nfreshness = { threshold_seconds = 5, timestamp_column = "at" }\n', "checks.freshness.timestamp_column", "a replication pipeline knows the timestamp column of its tables"),
        ("replication", "enabled = true\nnull_rate = { columns = [], threshold = 0.1 }\n", "checks.null_rate.columns", "`null_rate` names no column"),
        ("replication", 'enabled = true\nnull_rate = { columns = ["a"], threshold = 5 }\n', "checks.null_rate.threshold", "`threshold` is a share of the rows, and no more than all of them can be null"),
        ("replication", 'enabled = true\nnull_rate = { columns = ["a"], threshold = 0.5, sample_percent = 0 }\n', "checks.null_rate.sample_percent", "a sample of 0 % has no rows"),
        ("quality", 'enabled = true\ncustom = [ { name = "a", sql = " " } ]\n', "checks.custom.0.sql", "the custom check `a` has no query"),
        ("quality", 'enabled = true\ncustom = [ { name = "a", sql = "SELECT 1" }, { name = "a", sql = "SELECT 2" } ]\n', "checks.custom.1.name", "two custom checks are called `a`"),
        ("quality", 'enabled = true\ncustom = [ { name = "a", sql = "SELECT 1 FROM {source}" } ]\n', "checks.custom.0.sql", "`{source}` stands for the source of a copy: there is none"),
        ("replication", "enabled = true\ncross_source_overlap = { sample = 5 }\n", "checks.cross_source_overlap", "`cross_source_overlap` needs `keys` or `key_expr`, and only one of them"),
        ("replication", 'enabled = true\ncross_source_overlap = { keys = ["a"], key_expr = "b" }\n', "checks.cross_source_overlap", "`cross_source_overlap` needs `keys` or `key_expr`, and only one of them"),
        ("replication", "enabled = true\nquarantine = { enabled = true }\n", "checks.quarantine", "a replication pipeline puts no rows into quarantine"),
        ("quality", 'enabled = true\nquarantine = { enabled = true }\nassertions = [ { type = "unique", column = "id" } ]\n', "checks.quarantine", "no assertion says which rows to put into quarantine"),
        ("quality", 'enabled = true\nquarantine = { enabled = true, suffix_valid = "" }\nassertions = [ { type = "not_null", column = "id" } ]\n', "checks.quarantine", "the suffixes of quarantine must be there and differ"),
        ("replication", "enabled = true\nflat_line_runs = 30\n", "checks.flat_line_runs", "`flat_line_runs` must be between 0 and 29"),
    ],
)  # fmt: skip
def test_a_check_that_would_do_nothing_is_named(kind, checks, place, message):
    assert [(place, message)] == problems_of(kind, checks)

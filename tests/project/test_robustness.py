"""Whatever is written into a project's files, loading ends with diagnostics, not with a traceback."""

import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocky.project import load_project
from rocky.project.configuration.config import read_config
from rocky.project.model_text import find_front_matter
from rocky.project.toml.documents import Document, Problems, parse_document
from tests.project.projects import load
from tests.project.test_config import FULL

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats(allow_nan=False) | st.text(max_size=5) | st.dates(),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=4,
)  # fmt: skip

SIDECAR = tomllib.loads(
    'name = "n"\ndepends_on = ["a"]\nformat = "table"\nretention = "1d"\n[strategy]\ntype = "merge"\nunique_key = ["id"]\n'
    '[target]\nschema = "s"\n[[tests]]\ntype = "unique"\ncolumn = "x"\n[columns.x]\ndescription = "d"\n[lints]\nP002 = "allow"\n'
    "[tags]\na = 'b'\n[freshness]\nmax_lag_seconds = 1\n[budget]\nmax_usd = 1\n[[test]]\nname = 't'\ngiven = [{ref = 'a', rows = []}]\n"
)
SOURCE = {
    "source": [
        {
            "name": "s",
            "format": "csv",
            "path": "p",
            "columns": [{"name": "a", "type": "int", "nullable": False}],
        }
    ]
}
SEED = {"columns": [{"name": "a", "type": "int"}], "delimiter": ",", "target": {"schema": "x"}}
CONTRACT = {
    "columns": [{"name": "a", "type": "int", "nullable": False}],
    "rules": {"required": ["a"], "strict": True},
}
DEFAULTS = {
    "strategy": "view",
    "target": {"schema": "s"},
    "tags": {"a": "b"},
    "lints": {"P002": "warn"},
    "freshness": {"severity": "error"},
}


def paths(value, at=()):
    yield at
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, one in items:
        yield from paths(one, (*at, key))


def replace(value, at, new):
    """The value with what is at a path replaced; None removes it."""
    if not at:
        return new
    key, *rest = at
    copy = dict(value) if isinstance(value, dict) else list(value)
    if not rest and new is None:
        del copy[key]
    else:
        copy[key] = replace(copy[key], rest, new)
    return copy


def write(value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{quote(k)} = {write(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(write, value)) + "]"
    if isinstance(value, str):
        return quote(value)
    return str(value).replace("inf", "1.0") if isinstance(value, float) else str(value)


def quote(text: str) -> str:
    return (
        '"'
        + "".join(
            c if c.isalnum() or c in " _./*<>(),-" else f"\\U{ord(c):08x}"
            for c in text
            if not "\ud800" <= c <= "\udfff"
        )
        + '"'
    )


def document(data) -> str:
    return (
        "\n".join(f"{quote(key)} = {write(one)}" for key, one in data.items())
        if isinstance(data, dict)
        else write(data)
    )


def without_nulls(value):
    if isinstance(value, dict):
        return {key: without_nulls(one) for key, one in value.items() if one is not None}
    if isinstance(value, list):
        return [without_nulls(one) for one in value if one is not None]
    return value


CONFIG = tomllib.loads(FULL)


@settings(max_examples=200)
@given(st.sampled_from(list(paths(CONFIG))), VALUES)
def test_any_value_anywhere_in_the_settings_is_read_or_reported(at, value):
    data = without_nulls(replace(CONFIG, at, value)) if at else {}
    problems: Problems = []
    read_config(data, problems)
    text = document(data)
    for problem in problems:
        Document("rocky.toml", text, data).diagnose(problem)


@pytest.mark.parametrize(
    ("path", "good"),
    [
        ("models/m.toml", SIDECAR),
        ("models/_defaults.toml", DEFAULTS),
        ("sources/s.toml", SOURCE),
        ("seeds/s.toml", SEED),
        ("contracts/m.contract.toml", CONTRACT),
    ],
)
def test_any_value_anywhere_in_a_file_is_read_or_reported(tmp_path, path, good):
    load(tmp_path, {"models/m.sql": "SELECT 1 AS a", "seeds/s.csv": "a\n1\n", path: ""})
    places = [at for at in paths(good) if at]

    @settings(max_examples=60)
    @given(st.sampled_from(places), VALUES)
    def check(at, value):
        (tmp_path / path).write_text(document(without_nulls(replace(good, at, value))))
        project = load_project(tmp_path, env={})
        assert not [one for one in project.diagnostics if "not valid TOML" in one.message]
        for source in project.sources.values():
            assert len(source.columns) == len(source.column_places)
        for contract in project.contracts.values():
            for column in contract.columns:
                _ = column.span, column.type_span, column.nullable_span
        for model in project.models.values():
            assert model.strategy

    check()


@given(st.text(alphabet='-toml\n\r "=[]ab', max_size=60))
def test_any_text_may_stand_at_the_top_of_a_model(text):
    found = find_front_matter(text)
    if found and found.end is not None:
        assert found.start <= found.end <= found.sql_start <= len(text)


@given(st.text(alphabet="ab=[]{}\"'#.,\n\\$ 1\t\r", max_size=60))
def test_any_text_is_parsed_or_reported_with_a_place_inside_it(text):
    found = []
    parse_document("x.toml", text, {}, found.append)
    for one in found:
        if one.span:
            assert 0 <= one.span.start <= one.span.end <= len(text)


@given(st.binary(max_size=60))
def test_any_bytes_may_be_a_seed(tmp_path_factory, data):
    root = tmp_path_factory.getbasetemp() / "seed-of-bytes"
    load(root, {"seeds/s.csv": data})

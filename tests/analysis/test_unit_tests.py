"""A unit test that gives rows of nothing is found by a compile, at its line."""

import pytest

from rocky.compiler.passes import compile_project
from rocky.project import load_project
from tests.project.projects import findings
from tests.run.runs import PROJECT, write

TEST = """
[[test]]
name = "few"
[[test.given]]
ref = "{ref}"
rows = [ {{ id = 1, country = "DE" }} ]
[test.expect]
rows = [ {{ id = 1, country = "DE" }} ]
"""


def compiled(root, ref):
    write(root, {**PROJECT, "models/stg_orders.toml": TEST.format(ref=ref)})
    return compile_project(load_project(root, env={}, remember=True))


def test_an_unknown_name_is_reported_where_it_stands_also_of_a_remembered_model(tmp_path):
    for _ in range(2):
        (found,) = compiled(tmp_path, "raw.ordesr").diagnostics
        assert ("E017", "models/stg_orders.toml") == (found.code.value, found.path)
        assert (
            "unit test `few` gives rows of `raw.ordesr`, which is not a model, source or seed"
            == found.message
        )
        assert "did you mean `raw.orders`?" == found.help
        text = (tmp_path / found.path).read_text()
        assert '"raw.ordesr"' == text[found.span.start : found.span.end]


@pytest.mark.parametrize("ref", ["raw.orders", "RAW.Orders", "countries", "report"])
def test_what_exists_is_left_alone(tmp_path, ref):
    assert [] == findings(compiled(tmp_path, ref))

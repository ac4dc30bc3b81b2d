"""Cells of seeds that their declared columns cannot hold, found without Spark."""

from time import perf_counter

import pytest

import rocky
from rocky.errors import RunRefused
from rocky.project.seeds import load_seed
from rocky.project.toml.documents import parse_document

CONFIG = '[adapter]\ntype = "spark"\nwarehouse = "w"\n[pipeline.p]\ntype = "transformation"\n'


def findings(text, sidecar):
    """What is reported of a seed, each as its place in the file and its message."""
    found = []
    document = parse_document("seeds/s.toml", sidecar, {}, found.append)
    load_seed("seeds/s.csv", (text, text.encode()), document, found.append)
    return [(text[slice(*each.span)] if each.span else None, each.message) for each in found]


def columns(**types):
    listed = ", ".join(f'{{ name = "{name}", type = "{kind}" }}' for name, kind in types.items())
    return f"columns = [ {listed} ]\n"


def test_a_cell_is_found_behind_quotes_line_ends_and_empty_lines():
    text = 'a,b\r\n"x, ""y""\r\nz",1\r\n\r\n"",two\r\n'

    assert [("two", "`two` is not a value of column `b`, which is declared `int`")] == findings(
        text, columns(b="int")
    )


def test_another_delimiter_is_seen():
    sidecar = 'delimiter = "|"\n' + columns(b="int")

    assert [("x,1", "`x,1` is not a value of column `b`, which is declared `int`")] == findings(
        "a|b\n1|x,1\n", sidecar
    )


def test_the_first_three_of_a_column_are_reported():
    text = "a\n" + "".join(f"x{row}\n" for row in range(100))

    assert ["x0", "x1", "x2"] == [place for place, _ in findings(text, columns(a="int"))]


def test_a_long_cell_is_shortened_and_one_of_many_lines_is_one_line():
    ((_, long),) = findings("a\n" + "x" * 500 + "\n", columns(a="int"))
    ((_, lines),) = findings('a\n"1\n2"\n', columns(a="int"))

    assert 120 > len(long)
    assert "`1 2` is not a value of column `a`, which is declared `int`" == lines


def test_a_column_of_many_values_is_refused():
    ((_, message),) = findings("a\n1\n", columns(a="array<int>"))

    assert "a cell of a seed holds one value, never a value of type `array<int>`" == message


def test_a_wrong_cell_stops_compile_validate_plan_and_run_before_spark(tmp_path):
    files = {
        "rocky.toml": CONFIG,
        "seeds/s.csv": "id,n\n1,2\n2,x\n",
        "seeds/s.toml": columns(n="int"),
        "models/m.sql": "SELECT n FROM s\n",
        "models/other.sql": "SELECT 1 AS one\n",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    workspace = rocky.open(tmp_path)

    places = []
    for refused in (workspace.plan, workspace.run, workspace.seed):
        try:
            refused()
        except RunRefused as error:
            places += [
                f"{each.code} {each.span.file}:{each.span.line}:{each.span.col}"
                for each in error.diagnostics
            ]
    found = [each.code for each in workspace.compile().diagnostics]
    checked = [each.code for each in workspace.validate().diagnostics]

    assert ["E048 seeds/s.csv:3:3"] * 3 == places
    assert (["E048"], ["E048"]) == (found, checked)


@pytest.mark.slow
def test_looking_at_a_large_seed_costs_no_more_than_inferring_its_types():
    text = "id,amount,day\n" + "".join(
        f"{row},{row % 9999}.25,2026-0{row % 9 + 1}-1{row % 9}\n" for row in range(60_000)
    )

    def seconds(sidecar):
        document = parse_document("seeds/s.toml", sidecar, {}, print)
        began = perf_counter()
        load_seed("seeds/s.csv", (text, text.encode()), document, print)
        return perf_counter() - began

    inferred = min(seconds("") for _ in range(3))
    declared = min(
        seconds(columns(id="bigint", amount="decimal(9,2)", day="date")) for _ in range(3)
    )

    assert 3 * inferred > declared

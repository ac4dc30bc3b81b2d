"""Changes of Python models whose code was not run: neither an alarm nor a calm that nobody saw."""

from dataclasses import replace
from pathlib import Path

import pytest

from rocky.errors import NothingSelected
from rocky.operations.changes.broken_sides import SidesBroken
from rocky.operations.changes.diff import DiffHead, DiffReport, DiffRequest, diff
from rocky.operations.check.ci import CiRequest, ci
from rocky.operations.graph.lineage import LineageRequest, lineage
from rocky.operations.page.overlays import OverlayRequest, overlay
from rocky.operations.page.project_page import load_page
from rocky.operations.workspace import Workspace, compile_workspace
from tests.operations.test_python_plans import HEAD, INPUTS, PAID, files_of
from tests.project.git.repos import make_repo

PLAIN = "SELECT id, amount FROM raw.orders\n"
RENAMED = PAID.replace("'double'", "'twice'")
REWORDED = (
    HEAD + "    it = orders\n    return it.select('id', (F.col('amount') * 2).alias('double'))\n"
)


READER = "SELECT id, double FROM paid\n"


@pytest.fixture
def shop(tmp_path: Path) -> Workspace:
    """A repository with a Python model, its reader and another model; no code was run."""
    return repository(tmp_path / "repo", READER)


def repository(root: Path, reader: str) -> Workspace:
    files = {
        **files_of({"paid": (PAID, INPUTS)}),
        "models/reader.sql": reader,
        "models/plain.sql": PLAIN,
        ".gitignore": ".rocky/\n",
    }
    return Workspace(make_repo(root, files).root)


def write(shop: Workspace, **texts: str) -> None:
    for name, text in texts.items():
        (shop.config / "models" / name.replace("_", ".")).write_text(text)


def compared(shop: Workspace, *models: str) -> DiffHead:
    report = diff(shop, DiffRequest("HEAD", models=models, fail_on="breaking"))
    assert isinstance(report, DiffReport)
    return report.head


def uncompared(head: DiffHead) -> dict[str, list[tuple[str, str]]]:
    return {
        each.model_name: [(plan.model_name, plan.side) for plan in each.missing_plans]
        for each in head.uncompared
    }


@pytest.mark.slow
def test_code_that_was_run_in_the_base_alone_breaks_nobody_and_passes_no_gate(shop) -> None:
    compile_workspace(shop, asker="person")
    write(shop, paid_py=REWORDED)
    before = compared(shop)
    compile_workspace(shop, asker="person")
    after = compared(shop)

    assert ("uncompared", 0, True) == (before.verdict, before.summary.breaking, before.failed)
    assert {"paid": [("paid", "head")], "reader": [("paid", "head")]} == uncompared(before)
    assert (
        "`paid` and `reader` are not compared: the code of `paid` (working tree) was not run;"
        " run `rocky compile` first, or set `ROCKY_ANALYSE=always` where the code may be run",
    ) == before.notes
    assert ("unchanged", {}, False) == (after.verdict, uncompared(after), after.failed)


@pytest.mark.slow
def test_a_column_that_is_renamed_in_code_that_was_not_run_is_not_said_to_break_nothing(
    shop,
) -> None:
    write(shop, paid_py=RENAMED, reader_sql="SELECT id, twice AS double FROM paid\n")
    cold = compared(shop)
    asked = compared(replace(shop, environment={"ROCKY_ANALYSE": "always"}))

    assert ("uncompared", 2, 1, True) == (
        cold.verdict,
        cold.summary.uncompared,
        cold.summary.unchanged,
        cold.failed,
    )
    assert {"paid": [("paid", "base"), ("paid", "head")]}.items() <= uncompared(cold).items()
    assert "set `ROCKY_ANALYSE=always`" in cold.notes[0]
    assert ("breaking", {}, True) == (asked.verdict, uncompared(asked), asked.failed)


@pytest.mark.slow
def test_a_change_elsewhere_is_compared_whether_code_was_run_or_not(shop) -> None:
    write(shop, plain_sql="SELECT id, amount, status FROM raw.orders\n")
    found = compared(shop)

    assert ("info", {}, (), False) == (found.verdict, uncompared(found), found.notes, found.failed)
    assert 2 == found.summary.unchanged


@pytest.mark.slow
def test_a_reader_that_changes_over_code_that_was_not_run_is_not_compared(shop) -> None:
    write(shop, reader_sql="SELECT id, double + 1 AS double FROM paid\n")
    unknown = compared(shop)
    write(shop, reader_sql="SELECT CAST(id AS INT) AS id FROM raw.orders\n")
    base_unknown = compared(shop)
    write(shop, reader_sql=READER, new_sql="SELECT id FROM paid\n")
    added = compared(shop)

    assert {"reader": [("paid", "base"), ("paid", "head")]} == uncompared(unknown)
    assert {"reader": [("paid", "base")]} == uncompared(base_unknown)
    assert ("info", {}) == (added.verdict, uncompared(added))


@pytest.mark.slow
def test_a_reader_whose_columns_are_known_without_the_plan_is_compared(tmp_path: Path) -> None:
    shop = repository(tmp_path, "SELECT CAST(id AS INT) AS id FROM paid\n")
    write(shop, reader_sql="SELECT CAST(id AS STRING) AS id FROM paid\n")
    found = compared(shop)

    assert ("breaking", {}, ()) == (found.verdict, uncompared(found), found.notes)


@pytest.mark.slow
def test_what_certainly_breaks_is_told_next_to_what_was_not_compared(shop) -> None:
    write(shop, paid_py=REWORDED, plain_sql="SELECT id FROM raw.orders\n")
    found = compared(shop)
    chosen = compared(shop, "plain")

    assert ("breaking", ["paid", "reader"]) == (found.verdict, list(uncompared(found)))
    assert ("breaking", {}, ()) == (chosen.verdict, uncompared(chosen), chosen.notes)


@pytest.mark.slow
def test_a_part_of_a_broken_comparison_has_no_model_whose_code_was_not_run(shop) -> None:
    write(shop, paid_py=REWORDED, plain_sql="SELECT nope FROM raw.orders\n")
    with pytest.raises(SidesBroken, match="so nothing was compared") as refused:
        diff(shop, DiffRequest("HEAD"))

    assert ["paid", "reader"] == [each.model_name for each in refused.value.report.uncompared]
    assert () == refused.value.report.models


@pytest.mark.slow
def test_the_overlay_marks_what_was_not_compared(shop) -> None:
    write(shop, paid_py=REWORDED)
    page = load_page(shop)
    report = overlay(shop, page, OverlayRequest("breaking", "HEAD"))
    names = [each.name for each in page.index.tables]

    assert {"paid": "not compared", "reader": "not compared", "plain": "unchanged"} == {
        names[each.table]: report.states[each.state].name
        for each in report.tables
        if names[each.table] != "raw.orders"
    }
    assert report.partial is not None
    assert "the code of `paid` (both sides) was not run" in report.partial


@pytest.mark.slow
def test_columns_that_are_unknown_because_code_was_not_run_are_said_to_be(shop) -> None:
    report = ci(shop, CiRequest(cache=False))
    (found,) = report.found

    assert "`ROCKY_ANALYSE=always`" in (found.help or "")
    assert [("Python models whose code was not run", 2)] == [
        (each.reason, each.count) for each in report.summary.unknown_reasons
    ]


@pytest.mark.parametrize("name", ["paid.double", "all_paid.double"])
def test_lineage_of_code_that_was_not_run_says_what_makes_its_columns_known(shop, name) -> None:
    (shop.config / "models/all_paid.sql").write_text("SELECT * FROM paid\n")
    with pytest.raises(NothingSelected, match="the code of `paid` was not run; `rocky compile`"):
        lineage(shop, LineageRequest(name))

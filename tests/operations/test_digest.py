"""Reports at a prompt and in a notebook: a line or two, a table, and no markup of the author's."""

import re

import pytest

from rocky.operations.check.compile import CompileRequest, compile_models
from rocky.operations.digest import MOST, Digest, render_html, render_markdown
from rocky.operations.execution.run import run
from rocky.operations.graph.lineage import LineageRequest, lineage
from rocky.operations.graph.list import ListRequest, list_project
from rocky.operations.plan import plan
from rocky.operations.records.history import HistoryRequest, history
from rocky.operations.rows.frame import QueryRequest, describe_query
from rocky.operations.rows.show import ShowRequest, show
from rocky.operations.workspace import compile_workspace
from rocky.plan.request import RunRequest
from tests.operations.shops import OpenShop

WIDE = 300
"""Of a `repr`, so many characters at most."""


@pytest.fixture
def shop(tmp_path, monkeypatch) -> OpenShop:
    return OpenShop(tmp_path, monkeypatch)


def reports(shop: OpenShop) -> dict[str, object]:
    opened = shop.workspace
    return {
        "plan": plan(opened, RunRequest()),
        "run": run(opened, RunRequest()),
        "compile": compile_models(opened, CompileRequest()),
        "list": list_project(opened, ListRequest()),
        "models": list_project(opened, ListRequest("models")),
        "sources": list_project(opened, ListRequest("sources")),
        "seeds": list_project(opened, ListRequest("seeds")),
        "pipelines": list_project(opened, ListRequest("pipelines")),
        "model": lineage(opened, LineageRequest("stg_orders")),
        "column": lineage(opened, LineageRequest("stg_orders.country")),
        "project": lineage(opened, LineageRequest()),
        "history": history(opened, HistoryRequest()),
        "show": show(opened, ShowRequest("stg_orders")),
        "query": describe_query(opened, QueryRequest("SELECT id FROM stg_orders")),
    }


@pytest.mark.slow
def test_a_report_is_a_line_at_a_prompt_and_a_table_in_a_notebook(shop):
    for name, report in reports(shop).items():
        assert len(repr(report)) < WIDE, name
        assert "\n" not in repr(report), name
        html, markdown = report._repr_html_(), report._repr_markdown_()
        assert html.count("<tr>") == html.count("</tr>"), name
        assert markdown.startswith("**"), name
        if name != "pipelines":
            assert "<table>" in html, name
            assert "| --- |" in markdown, name


@pytest.mark.slow
def test_a_run_says_what_became_of_each_model(shop):
    report = run(shop.workspace, RunRequest())

    assert f"run {report.run.run_id}" in repr(report)
    assert re.search(r"RunReport: Success in [\d.]+ s: \d+ built \(run", repr(report))
    assert repr(report.run).startswith("<ModelsRun: Success in ")
    row = r"<tr><td>stg_orders</td><td>built</td><td>3</td><td>[\d.]+</td><td>[^<]+</td></tr>"
    assert re.search(row, report._repr_html_())


def test_findings_have_their_place(shop):
    shop.write("models/stg_orders.sql", "SELECT contry FROM raw.orders")
    report = compile_models(shop.workspace, CompileRequest())

    first, second = repr(report).splitlines()
    assert "1 error" in first
    assert "  models/stg_orders.sql:1:8: error[E003] no column `contry`" in second
    assert "<td>error E003</td><td>models/stg_orders.sql:1:8</td>" in report._repr_html_()
    assert r"models/stg\_orders.sql:1:8" in report._repr_markdown_()


def test_what_authors_write_is_no_markup(shop):
    shop.write("models/evil.sql", "SELECT '<script>alert(1)</script>' AS `a<b>|c` FROM raw.orders")
    shop.write("models/evil.toml", 'description = "<img src=x onerror=alert(1)> | [a](b)"\n')
    listed = list_project(shop.workspace, ListRequest("models", ("evil",)))
    shown = show(shop.workspace, ShowRequest("evil", limit=1))

    for report in (listed, shown):
        assert not re.search("<(script|img|b>)", report._repr_html_().replace("<b>", "", 1))
        assert not re.search("<(script|img|b>)", report._repr_markdown_())
    assert "&lt;img src=x onerror=alert(1)&gt; | [a](b)" in listed._repr_html_()
    assert r"&lt;img src=x onerror=alert(1)&gt; \| \[a\](b)" in listed._repr_markdown_()


def test_a_project_and_its_compilation_are_a_line(shop):
    compilation = compile_workspace(shop.workspace)

    assert re.fullmatch(
        r"<Project '.*': \d+ models, \d+ sources, \d+ seeds>", repr(compilation.project)
    )
    assert repr(compilation).endswith(": 0 findings, 0 errors>")
    assert len(repr(compilation)) < WIDE


def test_of_many_rows_the_first_are_shown():
    looked = []
    rows = (looked.append(each) or (each, "x" * 1000) for each in range(10_000))
    shown = render_html(Digest("t", ("n", "text"), rows, 10_000))

    assert MOST == len(looked)
    assert MOST + 1 == shown.count("<tr>")
    assert "... and 9,950 more" in shown
    assert len(shown) < 20_000
    assert "| 1 |" in render_markdown(Digest("t", ("n",), [(1,)], 1))

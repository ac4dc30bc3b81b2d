"""Every report at a prompt and in a notebook; what a workspace and the package list."""

import inspect
import types
from typing import Union, get_args, get_origin

import pytest

import rocky
from rocky.api.branch import Branch
from rocky.errors import InternalError
from rocky.operations.digest import Digested
from tests.operations.shops import OpenShop
from tests.spark.projects import write_files
from tools.generate_schemas import COMMANDS, reports_of

WIDE = 320


def kinds(report: object) -> tuple[type, ...]:
    is_union = get_origin(report) in (Union, types.UnionType)
    return get_args(report) if is_union else (report,)


REPORTS = sorted(
    {
        kind
        for command in COMMANDS
        for report in reports_of(command).values()
        for kind in kinds(report)
    },
    key=lambda kind: kind.__name__,
)


@pytest.mark.parametrize("kind", REPORTS, ids=lambda kind: kind.__name__)
def test_every_report_is_digested(kind):
    assert issubclass(kind, Digested)
    assert kind.__repr__ is Digested.__repr__, "a dataclass writes one of its own"


@pytest.fixture
def shop(tmp_path, monkeypatch) -> rocky.Workspace:
    OpenShop(tmp_path, monkeypatch)
    return rocky.open(tmp_path)


@pytest.mark.slow
def test_reports_are_short_at_a_prompt_and_escaped_in_a_notebook(shop):
    shop.run()
    reports = {
        "validate": shop.validate(),
        "ci": shop.ci(),
        "emit_sql": shop.emit_sql(),
        "one": shop.emit_sql("stg_orders"),
        "test": shop.test(),
        "build": shop.build(),
        "seed": shop.seed(),
        "cost": shop.cost(),
        "trace": shop.trace(),
        "verify": shop.verify(),
        "replay": shop.replay(),
        "checked": shop.replay(verify=True),
        "gc": shop.gc(dry_run=True),
        "state": shop.state(),
        "sweep": shop.sweep_state(dry_run=True),
        "branches": shop.branches(),
        "promotions": shop.branches(promotions=True),
        "doctor": shop.doctor("config"),
        "executions": shop.history("stg_orders"),
        "account": shop.history(run="latest"),
        "codes": rocky.explain(),
        "code": rocky.explain("E003"),
    }
    for name, report in reports.items():
        first, *rest = repr(report).splitlines()
        assert first.startswith(f"<{type(report).__name__}: "), name
        assert len(first) < WIDE, name
        assert len(rest) <= 1, name
        assert isinstance(report._repr_markdown_(), str), name
        html = report._repr_html_()
        if html is not None:
            assert html.count("<tr>") == html.count("</tr>"), name
            assert " object at 0x" not in html, name

    assert "<CodesReport: " in repr(reports["codes"])
    assert reports["code"]._repr_markdown_().startswith("# E003")
    assert "<pre>SELECT" in reports["one"]._repr_html_()
    assert "```sql\nSELECT" in reports["one"]._repr_markdown_()
    assert "tests: " in repr(reports["build"])


def test_sql_is_text_in_a_notebook(tmp_path):
    write_files(tmp_path, {"models/evil.sql": "SELECT '</pre><script>x</script>' AS a"})
    shown = rocky.open(tmp_path).emit_sql("evil")._repr_html_()
    assert "<script>" not in shown
    assert "&lt;script&gt;" in shown


def test_completion_lists_what_is_public_and_nothing_else(shop):
    assert sorted(rocky.__all__) == dir(rocky)
    assert all(inspect.ismethod(getattr(shop, name)) for name in dir(shop))
    assert {"run", "build", "table", "sql", "lineage", "history", "doctor"} <= set(dir(shop))
    assert not {"is_branch_known", "branch_adapter", "session_source"} & set(dir(shop))
    branch = dir(shop.branch("x"))
    assert {"create", "diff", "promote", "workspace", "name"} <= set(branch)
    assert not [name for name in branch if name.startswith("_")]
    assert "Branch('x')" == repr(shop.branch("x"))
    assert Branch.__name__ in dir(rocky)


def test_a_refusal_is_shown_by_the_caller_s_line_and_what_to_do(shop):
    with pytest.raises(rocky.RockyError) as caught:
        shop.lineage("stg_order")

    shown = caught.value._render_traceback_()
    assert "NothingSelected: no model, source or seed `stg_order`" in shown[-1]
    assert 'shop.lineage("stg_order")' in shown[0]
    assert not any("rocky/api" in line or "rocky/operations" in line for line in shown)
    ours = InternalError("we are wrong")._render_traceback_()
    assert "rocky.errors.InternalError: we are wrong" == ours[-1]

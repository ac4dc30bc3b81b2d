"""`rocky compile --live`: what needs no Spark. Comparing itself: tests/pipelines/drift/test_declared.py."""

from rocky.cli.console import ExitCode
from rocky.pipelines.drift import live
from rocky.pipelines.drift.live import compare_declared


def test_live_looks_at_all_sources_or_none(rocky, write):
    write({"models/good.sql": "SELECT order_id FROM raw.orders\n"})
    answer = rocky("compile", "--live", "--model", "good")

    assert ExitCode.FAILED == answer.code
    assert "`--live` looks at all sources: leave out `--model`" == answer.json["error"]["message"]


def test_live_findings_are_part_of_the_answer(rocky, write, monkeypatch):
    def compare_live(project, adapter):
        assert "spark" == adapter.type
        return compare_declared(project, lambda source: source.columns[1:])

    monkeypatch.setattr(live, "compare_live", compare_live)
    write({"models/good.sql": "SELECT order_id FROM raw.orders\n"})
    answer = rocky("compile", "--live")

    assert ExitCode.FAILED == answer.code
    assert {"E042"} == {each["code"] for each in answer.json["diagnostics"]}

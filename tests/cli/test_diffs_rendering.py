"""Differences as Markdown, annotations and text: names are never markup, and nothing goes missing."""

import re
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from rocky.analysis.changes.change import Change, Impact, ProjectDiff, Reached, TableDiff
from rocky.cli.commands.diff import render_annotations, render_changes, render_reach
from rocky.operations.changes.diff import report_difference
from rocky.operations.changes.diff_comment import (
    LIMIT,
    code_span,
    escape_prose,
    escape_text,
    render_comment,
)
from rocky.operations.changes.revisions import Difference, describe_verdict
from rocky.project.git import ChangedFile


@dataclass(frozen=True)
class FewSides:
    """As much of two sides as rendering asks for."""

    base_ref: str = "main"
    base_commit: str = "a" * 40
    head_ref: str = "feature"
    head_commit: str = "b" * 40
    dirty: bool = False
    prefix: str = ""
    files: tuple[ChangedFile, ...] = ()
    notes: tuple[str, ...] = ()
    head: Any = field(
        default_factory=lambda: SimpleNamespace(
            project=SimpleNamespace(models={}, config_path="rocky.toml"), models={}
        )
    )


def view_of(*tables, settings=(), sides=None):
    diff = ProjectDiff(tables, settings, 100, 100 - len(tables))
    return Difference(diff, diff, sides or FewSides())


def changes_of(difference, *, colour=False, width=None):
    return render_changes(report_difference(difference), colour=colour, width=width)


def reach_of(difference):
    return render_reach(report_difference(difference, reach=True), colour=False)


def gone(column="amount", **more):
    return Change("column_removed", Impact.BREAKING, column, "int", **more)


def table(name="orders", *changes, status="modified"):
    return TableDiff(name, "model", status, f"models/{name}.sql", f"c.s.{name}", changes=changes)


# ---------------------------------------------------------------------------- Markdown


def test_a_comment_starts_with_its_mark_then_the_verdict():
    marked, verdict, *_ = render_comment(
        view_of(table("orders", gone())), "ci-diff", with_reached=False
    ).split("\n")

    assert "<!-- rocky ci-diff -->" == marked
    assert "**Breaking**: 1 breaking change; 1 modified of 100 models" == verdict


def test_breaking_changes_stand_in_a_table_before_the_details():
    comment = render_comment(view_of(table("orders", gone())), "ci-diff", with_reached=False)

    assert "| `orders` | column removed | `amount` | `int` |  |  |\n" in comment
    assert comment.index("| `orders` |") < comment.index("<details><summary><code>orders</code>")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("amount", "`amount`"),
        ("a|b", r"`a\|b`"),
        ("a`b", "``a`b``"),
        ("`", "`` ` ``"),
        ("a\nb\x1b[0m", "`a b [0m`"),
        ("", ""),
        (None, ""),
    ],
)
def test_a_name_stands_in_a_code_span_that_it_cannot_leave(text, shown):
    assert shown == code_span(text)


def test_text_is_escaped_and_calls_nobody():
    assert "\\<b\\>\\[x\\]\\(y\\) \\*\\*z\\*\\* @\u200bteam" == escape_text("<b>[x](y) **z** @team")
    assert r"as `a|b` says" == escape_prose("as `a|b` says").replace(r"\|", "|")
    assert r"odd \` one" == escape_prose("odd ` one")


def test_a_name_is_no_markup_anywhere():
    evil = "</summary><img src=x> | [a](b) `c` @all"
    comment = render_comment(
        view_of(table(evil, gone(evil, detail=evil, reaches=(Reached(evil, evil, "direct"),)))),
        "lineage-diff",
        with_reached=True,
    )
    # Markdown is not read in a line of HTML, nor in a code span.
    prose = re.sub("<summary>.*</summary>", "", comment)
    outside = re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", "", prose)

    assert not re.search(r"(?<!\\)<img", outside)
    assert not re.search(r"(?<!\\)\[a", outside)
    assert not re.search("@(?!\u200b)", outside)
    assert "<summary><code>&lt;/summary&gt;&lt;img src=x&gt;" in comment
    assert [7] * 6 == [
        len(re.findall(r"(?<!\\)\|", line)) for line in comment.split("\n") if line[:1] == "|"
    ]


def test_a_comment_never_outgrows_its_limit_and_counts_what_is_left_out():
    many = [table(f"model_{number:04}", gone(), gone("other")) for number in range(2000)]
    comment = render_comment(view_of(*many), "ci-diff", with_reached=False)
    listed = len(re.findall("^[|] `model_", comment, re.MULTILINE))
    (rest,) = re.findall("and ([0-9,]+) more breaking changes", comment)

    assert len(comment) <= LIMIT
    assert 4000 == listed + int(rest.replace(",", ""))
    assert 2000 == comment.count("<details>") + int(
        re.findall("and ([0-9,]+) more tables", comment)[0].replace(",", "")
    )


def test_a_table_with_very_many_changes_shows_some_and_counts_the_rest():
    changes = [gone(f"c{number}") for number in range(1000)]
    comment = render_comment(view_of(table("wide", *changes)), "ci-diff", with_reached=False)

    assert "and 900 more changes" in comment
    assert len(comment) <= LIMIT


def test_what_a_change_reaches_is_grouped_by_model_and_says_when_it_was_before():
    reaches = (
        Reached("revenue", "total", "aggregate", "base"),
        Reached("revenue", "share", "expression"),
    )
    view = view_of(table("orders", gone(reaches=reaches)))
    comment = render_comment(view, "lineage-diff", with_reached=True)

    assert "- `revenue`: `total` (aggregate, before); `share` (expression)" in comment
    assert "reaches 2 columns in 1 model" in comment
    assert "  reaches 2 columns in 1 model\n    revenue: total (aggregate, before); share (" in (
        reach_of(view)
    )


def test_settings_renames_and_what_is_reached_have_their_place():
    renamed = Change("model_renamed", Impact.INFO, None, "old", "new")
    moved = TableDiff(
        "new", "model", "renamed", "models/new.sql", base_name="old", changes=(renamed,)
    )
    reached = TableDiff("far", "model", "affected", "models/far.sql", affected_by=("new",))
    setting = Change("settings_changed", Impact.INFO, None, "1", "2", "`a.b`")
    view = view_of(moved, reached, settings=(setting,))
    comment = render_comment(view, "ci-diff", with_reached=False)

    assert "**Nothing breaks**" in comment
    assert "<code>rocky.toml</code> settings" in comment
    assert "settings changed (`a.b`)" in comment
    assert "was `old`" in comment
    assert "<code>1 table</code> reached by these changes" in comment
    assert "- `far` by `new`" in comment


def test_notes_of_what_was_not_compared_are_in_the_comment():
    view = view_of(sides=FewSides(notes=("the submodule `x` is not checked out",)))

    assert "Note: the submodule" in render_comment(view, "ci-diff", with_reached=False)


# ---------------------------------------------------------------------------- text


def test_a_line_a_change_and_the_verdict():
    reached = TableDiff("far", "model", "affected", affected_by=("orders",))
    view = view_of(table("orders", gone()), reached)

    assert changes_of(view).split("\n") == [
        "main (aaaaaaaaaaaa) .. feature (bbbbbbbbbbbb)",
        "",
        "IMPACT    TABLE   STATUS    CHANGE          COLUMN  BEFORE  AFTER  REACHES",
        "breaking  orders  modified  column removed  amount  int",
        "",
        "reached by these changes: far",
        "",
        "1 breaking change; 1 modified, 1 affected of 100 models",
        "",
    ]


def test_colour_marks_the_impact_only():
    shown = changes_of(view_of(table("orders", gone())), colour=True)

    assert "\x1b[31m\x1b[1mbreaking\x1b[0m  orders" in shown


def test_a_name_cannot_speak_to_the_terminal():
    view = view_of(table("\x1b[2Jx", gone("\x1b]0;y\x07")))

    assert "\x1b" not in changes_of(view) + reach_of(view)


def test_a_narrow_terminal_says_what_it_does_not_show():
    view = view_of(table("orders", gone("a" * 30)))

    assert "too narrow for" in changes_of(view, width=60)


def test_what_only_others_reach_is_affected_not_unchanged():
    view = view_of(TableDiff("far", "model", "affected", affected_by=("orders",)))

    assert "affected" == view.verdict
    assert "0 breaking changes; 1 affected of 100 models" == describe_verdict(view)


# ---------------------------------------------------------------------------- annotations


def test_annotations_come_worst_first_and_cannot_be_ended_by_a_name():
    added = Change("column_added", Impact.INFO, "x\n::error::y", None, "int")
    removed = TableDiff(
        "old", "model", "removed", "models/old,1.sql", changes=(gone(None, detail="100%"),)
    )
    view = view_of(table("orders", added), removed, sides=FewSides(prefix="shop/"))

    assert render_annotations(report_difference(view)).split("\n") == [
        "::error file=shop/models/old%2C1.sql,title=breaking%3A column_removed::"
        "old: column removed: int (100%25)",
        "::notice file=shop/models/orders.sql,title=info%3A column_added::"
        "orders: column added `x%0A::error::y`: int",
        "",
    ]


def test_a_change_of_settings_is_placed_in_the_settings():
    setting = Change("settings_changed", Impact.WARNING, None, "1", "2")

    assert render_annotations(report_difference(view_of(settings=(setting,)))).startswith(
        "::warning file=rocky.toml,"
    )

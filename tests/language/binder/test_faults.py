"""A fault in a binding rule costs one model its types, never the compile."""

import pytest
from sqlglot import exp

import rocky
from rocky.language.binder.scopes import EXPRESSIONS


def test_a_rule_that_fails_makes_the_query_unknown_and_says_so(monkeypatch: pytest.MonkeyPatch):
    def fails(node: exp.Expr, scope: object) -> None:
        raise KeyError("this")

    monkeypatch.setitem(EXPRESSIONS, exp.HexString, fails)
    result = rocky.check_sql("SELECT 1 AS a, X'1F' AS b")

    assert ["W025"] == [found.code for found in result.diagnostics]
    assert result.ok
    assert not result.complete


def test_a_query_that_was_already_reported_is_not_reported_again(monkeypatch: pytest.MonkeyPatch):
    def fails(node: exp.Expr, scope: object) -> None:
        raise KeyError("this")

    monkeypatch.setitem(EXPRESSIONS, exp.HexString, fails)
    result = rocky.check_sql("SELECT nope, X'1F' AS b")

    assert ["E003"] == [found.code for found in result.diagnostics]

"""Tests on the page: what a model's tests ask, in words, and how they last went."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from rocky.analysis.disclosure import Disclosure
from rocky.diagnostics.diagnostic import SourceText
from rocky.operations.page.records import PageTest
from rocky.project import ModelFile
from rocky.project.configuration.freshness import FreshnessRecord, exactly
from rocky.project.configuration.labels import shown_meta, shown_text
from rocky.project.configuration.model import AssertionRecord
from rocky.project.models import setting_place

_HIDDEN: Final = "(not shown: the column is classified)"
_QUOTING: Final = frozenset(("accepted_values", "in_range", "regex_match", "aggregate"))
"""The kinds whose settings quote values of their column."""
_SIGNS: Final = {"lt": "<", "lte": "<=", "gt": ">", "gte": ">=", "eq": "=", "ne": "!=", "==": "="}


def describe_tests(
    model: ModelFile, went: Mapping[str, bool], disclosure: Disclosure
) -> tuple[PageTest, ...]:
    """The tests of a model, with what `went` knows of them by name."""
    return tuple(_tests(model, went, disclosure))


def place_tests(
    model: ModelFile, tests: Iterable[PageTest], texts: Mapping[str, SourceText]
) -> Iterator[PageTest]:
    """The described tests of a model with the places where they are declared."""
    counts = Counter[str]()
    for each in tests:
        block = {"unit": "test", "freshness": "freshness"}.get(each.kind, "tests")
        keys = (block,) if block == "freshness" else (block, counts[block])
        counts[block] += 1
        path, span = setting_place(model, texts, keys)
        place = path if span is None else f"{path}:{texts[path].line_of(span.start)}"
        yield replace(each, place=place)


def _tests(
    model: ModelFile, went: Mapping[str, bool], disclosure: Disclosure
) -> Iterator[PageTest]:
    for each in model.tests:
        name = each.called
        asked = each.type in _QUOTING and each.column is not None
        # A test may be of another table, whose column of that name is another one.
        (secrets,) = disclosure.in_stored(each.table or model.key, (each.column or "",))
        hides = asked and secrets
        yield PageTest(
            name=str(shown_text(name)),
            kind=each.type,
            severity=each.severity,
            column=each.column or (", ".join(each.columns) or None),
            rule=_HIDDEN if hides else _rule(each),
            description=shown_text(each.description),
            passed=went.get(name),
        )
    if model.settings.freshness is not None:
        yield _freshness(model.settings.freshness, went)
    for test in model.settings.test:
        yield PageTest(
            name=str(shown_text(test.name)),
            kind="unit",
            rule=_unit_rule(len(test.given), len(test.expect.rows)),
            description=shown_text(test.description),
            passed=went.get(test.name),
        )


def _freshness(declared: FreshnessRecord, went: Mapping[str, bool]) -> PageTest:
    limits = declared.limits
    said = [f"{severity} after {exactly(limit)}" for severity, limit in limits.items()]
    return PageTest(
        name="freshness",
        kind="freshness",
        severity=next(iter(limits)),
        column=declared.time_column,
        rule=", ".join(said),
        passed=went.get("freshness"),
    )


def _unit_rule(inputs: int, rows: int) -> str:
    """How large a unit test is: its rows stay in the project."""
    given = "1 input" if inputs == 1 else f"{inputs} inputs"
    return f"from {given}, {rows} {'row' if rows == 1 else 'rows'} expected"


def _rule(test: AssertionRecord) -> str | None:
    rule = _asked(test)
    if test.filter is None:
        return rule
    return " ".join(each for each in (rule, "where", shown_text(test.filter)) if each)


def _asked(test: AssertionRecord) -> str | None:
    match test.type:
        case "accepted_values":
            return f"one of {', '.join(_value(each) for each in test.values)}"
        case "relationships":
            return f"every value is in {shown_text(test.to_table)}.{shown_text(test.to_column)}"
        case "expression":
            return shown_text(test.expression)
        case "unique_expr":
            return shown_text(test.key_expr)
        case "row_count_range" | "in_range":
            return _range(test)
        case "regex_match":
            return shown_text(test.pattern)
        case "aggregate":
            sign = _SIGNS.get(test.cmp or "", test.cmp or "")
            return f"{test.op}({shown_text(test.column)}) {sign} {_value(test.value)}"
        case "older_than_n_days":
            return f"older than {test.days} days"
        case _:
            return None


def _range(test: AssertionRecord) -> str:
    if test.max is None:
        return f"at least {_value(test.min)}"
    if test.min is None:
        return f"at most {_value(test.max)}"
    return f"{_value(test.min)} to {_value(test.max)}"


def _value(value: Any) -> str:
    shown = shown_meta(value)
    if isinstance(shown, str):
        return f"'{shown}'"
    # TOML's whole numbers are read as floats where a float may stand.
    return str(int(shown)) if isinstance(shown, float) and shown.is_integer() else str(shown)

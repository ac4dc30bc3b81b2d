"""Binding the SQL of a model's tests: conditions and keys over the columns of its table.

They are bound as Spark will be given them. A table that a subquery reads is left to Spark, which
looks for it in its catalogue when the test runs.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from rocky.diagnostics import Code, Diagnostic
from rocky.diagnostics.diagnostic import Label, Span
from rocky.language.binder.name_uses import NameNotes, NameUse
from rocky.language.binder.query import BoundQuery, bind_text
from rocky.language.datatypes.types import NUMERIC_KINDS, StructField
from rocky.language.declared_functions import DeclaredFunction
from rocky.language.macros.arguments import OPENING, expression_of, parse_expression
from rocky.language.syntax.parser import ParsedQuery, SyntaxProblem
from rocky.language.tables import Table, Tables
from rocky.project import ModelFile
from rocky.project.check_sql import SUBJECT, with_stand_ins
from rocky.project.setting_sql import Role, SettingSql, assertion_sql
from rocky.project.toml.variables import Keys, Substituted

_SUBJECT: Final = "rocky_subject"
_AROUND: Final[Mapping[Role, tuple[str, str]]] = {
    "query": ("", ""),
    "condition": (f"SELECT 1 AS one FROM {_SUBJECT} WHERE (\n", "\n)"),  # noqa: S608 - ours
    "key": ("SELECT key FROM (SELECT (\n", f"\n) AS key FROM {_SUBJECT}) GROUP BY key"),
}
"""What stands around the author's text when it is asked of a table."""


_VARIABLE_HELP: Final = "`@var(name)` is for the SQL of models: in settings write `${NAME}`"


class SettingFinding(NamedTuple):
    """A finding in the SQL of a setting, at its place in that."""

    keys: Keys
    sql: str
    found: Diagnostic


class Subject(NamedTuple):
    """The table that a check is about; not `known` if it may have other columns."""

    name: str
    fields: Sequence[StructField]
    known: bool = True


class _SubjectTables:
    """The one table that a check is about, and any other as one of unknown columns."""

    def __init__(self, subject: Subject, tables: Tables) -> None:
        self._table = Table(subject.name, tuple(subject.fields), (_SUBJECT,), subject.known)
        self._tables = tables

    def find(self, parts: tuple[str, ...]) -> Table | None:
        return self._table if parts in ((_SUBJECT,), (SUBJECT,)) else None

    def undeclared(self, parts: tuple[str, ...]) -> Table | None:
        return Table(".".join(parts), (), parts, known=False)

    def function(self, parts: tuple[str, ...]) -> DeclaredFunction | None:
        return self._tables.function(parts)

    def function_names(self) -> Iterable[str]:
        return self._tables.function_names()

    @property
    def declares_functions(self) -> bool:
        return self._tables.declares_functions

    def names(self) -> Iterable[str]:
        return ()


def bind_tests(
    model: ModelFile, subject: Subject, tables: Tables, other: str | None = None
) -> list[SettingFinding]:
    """What is wrong with the SQL of a model's tests of its own table, or of one that they name."""
    tests = model.settings.tests
    if not tests:
        return []
    found: list[SettingFinding] = []
    for each in assertion_sql(tests, ("tests",)):
        index = each.keys[1]
        assert isinstance(index, int)
        if tests[index].table != other:
            continue
        if model.setting_expansions.get(each.keys, True) is not None:
            bans = _bans(model, each)
            found += bind_setting(each, subject, tables, bans)
    return found


def _bans(model: ModelFile, setting: SettingSql) -> Mapping[int, int]:
    expansion = model.setting_expansions.get(setting.keys)
    return expansion.bans if expansion is not None else {}


def bind_setting(
    setting: SettingSql, subject: Subject, tables: Tables, bans: Mapping[int, int]
) -> list[SettingFinding]:
    """What is wrong with SQL that is asked of a table."""
    found = _bind(setting, subject, tables, bans)
    if found and isinstance(setting.sql, Substituted):
        # What came from the environment may be a secret: it is neither said nor kept.
        return [SettingFinding(setting.keys, "", _concealed(found[0].found))]
    return found


def _concealed(found: Diagnostic) -> Diagnostic:
    return Diagnostic(
        found.code,
        "this setting, with what the environment says in it, is not SQL that Spark would take",
        Span(0, 0),
        severity=found.severity,
        condition=found.condition,
    )


def _bind(
    setting: SettingSql, subject: Subject, tables: Tables, bans: Mapping[int, int]
) -> list[SettingFinding]:
    keys, role, sql = setting
    before, after = _AROUND[role]
    wrong = _syntax(parse_expression(sql), sql) if role != "query" else None
    if wrong is not None:
        return [SettingFinding(keys, sql, wrong)]
    shift = len(before)
    moved = {offset + shift: ban for offset, ban in bans.items()}
    text = with_stand_ins(sql) if role == "query" else sql
    known = _SubjectTables(subject, tables)
    bound = bind_text(f"{before}{text}{after}", known, moved)
    if role == "key" and not bound.diagnostics:
        beyond = _beyond_the_row(sql, known)
        return [SettingFinding(keys, sql, beyond)] if beyond is not None else []
    answer = _answer(bound, sql) if role == "query" and not bound.diagnostics else None
    if answer is not None:
        return [SettingFinding(keys, sql, answer)]
    return [SettingFinding(keys, sql, _moved(each, shift, len(sql))) for each in bound.diagnostics]


def setting_names(
    setting: SettingSql, subject: Subject, tables: Tables, bans: Mapping[int, int]
) -> list[NameUse]:
    """What the names in SQL that is asked of a table mean, at their places in it."""
    _, role, sql = setting
    before, after = _AROUND[role]
    shift, notes = len(before), NameNotes()
    moved = {offset + shift: ban for offset, ban in bans.items()}
    text = with_stand_ins(sql) if role == "query" else sql
    bind_text(f"{before}{text}{after}", _SubjectTables(subject, tables), moved, notes)
    found = (each._replace(span=_back(each.span, shift)) for each in notes.uses.values())
    return [each for each in found if each.span.start >= 0 and each.span.end <= len(sql)]


def _back(span: Span, shift: int) -> Span:
    return Span(span.start - shift, span.end - shift)


def _beyond_the_row(sql: str, tables: _SubjectTables) -> Diagnostic | None:
    """What is wrong with a key that is not of one row: a test by it would always pass."""
    before, after = _AROUND["condition"]
    judged = bind_text(f"{before}(\n{sql}\n) IS NOT NULL{after}", tables, {}).diagnostics
    if not any(each.code == Code.INVALID_AGGREGATION for each in judged):
        return None
    return Diagnostic(
        Code.INVALID_AGGREGATION,
        "a key is worked out from one row, and this looks at many",
        Span(0, len(sql.rstrip())),
        help="leave aggregates and window functions out: by them every row has a key of its own",
    )


def _answer(bound: BoundQuery, sql: str) -> Diagnostic | None:
    """What is wrong with the answer of a query of one's own: its first cell is a number."""
    kind = bound.columns[0].type.kind if bound.columns else "unknown"
    if kind in NUMERIC_KINDS or kind in ("unknown", "null"):
        return None
    return Diagnostic(
        Code.TYPE_ERROR,
        f"the first column of a check's query is a number, and this one is `{kind}`",
        Span(0, len(sql.rstrip())),
        help="count what is wrong: `SELECT count(*) FROM {table} WHERE ...`",
    )


def _syntax(parsed: ParsedQuery | SyntaxProblem, sql: str) -> Diagnostic | None:
    """What keeps a text from being one expression."""
    whole, code = Span(0, len(sql)), Code.SYNTAX_ERROR
    if isinstance(parsed, ParsedQuery):
        one = expression_of(parsed) is not None
        return None if one else Diagnostic(code, "this is not one expression", whole)
    message, span = parsed.message, _inside(parsed.span, len(OPENING), len(sql))
    if parsed.span.start >= len(OPENING) + len(sql):
        message = "something is missing at the end of this expression"
    hint = _VARIABLE_HELP if "@var" in sql else parsed.help
    return Diagnostic(code, message, span, condition=parsed.condition, help=hint)


def _moved(found: Diagnostic, shift: int, size: int) -> Diagnostic:
    """A finding at its place in the author's text; all of it for one that is outside."""
    return replace(
        found,
        span=_inside(found.span, shift, size),
        labels=tuple(_moved_label(each, shift, size) for each in found.labels),
    )


def _moved_label(label: Label, shift: int, size: int) -> Label:
    return label if label.span is None else replace(label, span=_inside(label.span, shift, size))


def _inside(span: Span | None, shift: int, size: int) -> Span:
    if span is None or span.start - shift >= size or span.end <= shift:
        return Span(0, size)
    return Span(max(span.start - shift, 0), min(span.end - shift, size))

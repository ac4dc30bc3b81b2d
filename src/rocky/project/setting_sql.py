"""SQL in settings: the conditions and keys that checks are written with, and where they stand.

They are compiled as models are. Macros in them are expanded when a model is loaded; a check whose
macros cannot be expanded is reported then, and not looked at again.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Literal, NamedTuple

from rocky.diagnostics.diagnostic import Label, SourceText, Span
from rocky.language.macros.calls import has_calls
from rocky.language.macros.expansion import Expansion
from rocky.project.configuration.model import AssertionRecord
from rocky.project.files import Report
from rocky.project.macros import Macros, diagnose_fault, fault_span
from rocky.project.models import ModelFile, setting_place
from rocky.project.toml.documents import Document
from rocky.project.toml.parser import locate_keys
from rocky.project.toml.strings import place_inside
from rocky.project.toml.variables import Keys, Substituted

Role = Literal["condition", "key", "query"]
_ROLES: Final[Mapping[str, Role]] = {
    "filter": "condition",
    "expression": "condition",
    "key_expr": "key",
}


class SettingSql(NamedTuple):
    """SQL in a setting: its keys, what it is for, and what it says."""

    keys: Keys
    role: Role
    sql: str


def assertion_sql(assertions: Sequence[AssertionRecord], at: Keys) -> Iterator[SettingSql]:
    """The SQL of assertions that stand at some keys."""
    for index, assertion in enumerate(assertions):
        for key, role in _ROLES.items():
            text = getattr(assertion, key)
            if text is not None:
                yield SettingSql((*at, index, key), role, text)


def expand_assertions(
    assertions: tuple[AssertionRecord, ...],
    at: Keys,
    macros: Macros,
    document: Document,
    report: Report,
    model: str | None = None,
) -> tuple[tuple[AssertionRecord, ...], dict[Keys, Expansion | None]]:
    """The assertions with their macros expanded, and the expansions by keys; None for a broken one.

    What is wrong with a call is reported at its place in the document.
    """
    made = list(assertions)
    expansions: dict[Keys, Expansion | None] = {}
    for keys, _, sql in assertion_sql(assertions, at):
        found = expand_setting(keys, sql, macros, document, report, model)
        if found is None:
            continue
        expansions |= found
        expansion, index = found[keys], keys[-2]
        assert isinstance(index, int)
        if expansion is not None:
            text = expansion.text
            if isinstance(sql, Substituted):
                text = Substituted(text, sql.written)
            changes: dict[str, Any] = {str(keys[-1]): text}
            made[index] = made[index]._replace(**changes)
    return tuple(made), expansions


def expand_setting(
    keys: Keys,
    sql: str,
    macros: Macros,
    document: Document,
    report: Report,
    model: str | None = None,
) -> dict[Keys, Expansion | None] | None:
    """The expansion of the SQL at some keys, by these; None for SQL that calls no macro."""
    kept = not isinstance(sql, Substituted)
    found = macros.expand(sql, keep=kept) if has_calls(sql) else None
    if found is None:
        return None
    if not isinstance(found, list):
        return {keys: found}
    for fault in found:
        span = _in_document(document, keys, sql, fault_span(fault))
        report(replace(diagnose_fault(fault), path=document.path, span=span, model=model))
    return {keys: None}


def _in_document(document: Document, keys: Keys, sql: str, span: Span) -> Span | None:
    value = document.span_of(keys)
    if value is None:
        return None
    start = document.start
    inner = Span(value.start - start, value.end - start)
    found = place_inside(document.text, inner, sql, span)
    return Span(found.start + start, found.end + start)


class SettingPlace(NamedTuple):
    """Where SQL of a setting was written: a value of a file, whose text is `text`.

    `said` is the value, of which the SQL is made by expanding macros, if it calls some. `shared` is
    the name and the place of the named test that it is from.
    """

    path: str
    value: Span | None
    text: str
    said: str
    expansion: Expansion | None
    shared: "tuple[str, SettingPlace] | None" = None

    @property
    def sql(self) -> str:
        """The SQL as it is compiled."""
        return self.expansion.text if self.expansion is not None else self.said

    def span(self, span: Span) -> Span | None:
        """A span of the SQL as it is compiled as one of the file."""
        if self.value is None:
            return None
        if self.expansion is not None:
            span = self.expansion.written(span)
        return place_inside(self.text, self.value, self.said, span)

    def labels(self, span: Span) -> tuple[Label, ...]:
        """Where in a named test, and where in macros, a span of the SQL was written."""
        inside = self.expansion.labels(span) if self.expansion is not None else ()
        if self.shared is None:
            return inside
        name, place = self.shared
        return (Label(place.span(span), f"in the test `{name}`", place.path), *inside)


def place_setting(
    model: ModelFile, texts: Mapping[str, SourceText], keys: Keys, sql: str
) -> SettingPlace:
    """Where the SQL at some keys of a model's settings was written."""
    path, value = setting_place(model, texts, keys)
    expansion = model.setting_expansions.get(keys)
    said = expansion.source if expansion is not None else sql
    place = SettingPlace(path, value, texts[path].text, said, expansion)
    _, index, key = keys
    name = model.tests[int(index)].use
    if name is None or value is None or place.text[value.start] in "'\"":
        return place
    # The test has its SQL from a named one: both places are told.
    used = setting_place(model, texts, (*keys[:2], "use"))[1]
    shared = texts[model.shared.path]
    found = locate_keys(shared.text).get(("test", name, key))
    if found is None:
        return place._replace(value=used)
    within = SettingPlace(shared.path, found.value, shared.text, said, expansion)
    return place._replace(value=used, shared=(name, within))

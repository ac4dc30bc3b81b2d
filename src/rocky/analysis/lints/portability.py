"""P001: what a model's query uses and another engine lacks, or reads otherwise.

It is asked for (`[portability] targets`, `--target-dialect`), and looks at records alone: no model
is parsed again. The bodies of SQL functions are looked at as well. One finding a use, whatever the
number of engines; where nothing is known of an engine the finding is a warning. Of a Python model
the plan is looked at, where there is one.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from rocky.analysis.compilation import Record, unpack_usage
from rocky.diagnostics import Code, Diagnostic, Severity
from rocky.diagnostics.codes import severity_of
from rocky.diagnostics.diagnostic import Span
from rocky.language.dialects.table import (
    DIALECTS,
    TITLES,
    Fact,
    Verdict,
    constructs_of,
    judge,
    portable_forms,
)
from rocky.language.ir import CONSTRUCT, Use
from rocky.project import Project
from rocky.project.functions import ProjectFunction
from rocky.project.models import ModelFile

_NAME: Final = re.compile(r"\w+")
_SPACE: Final = re.compile(r"\s+")


def lint_portability(
    project: Project, records: Mapping[str, Record], targets: Sequence[str]
) -> Iterator[Diagnostic]:
    """The findings of all models, for some engines."""
    everywhere = {name.lower() for name in project.config.portability.allow}
    for key, record in records.items():
        if record.usage:
            model = project.models[key]
            uses = [each for each in unpack_usage(record) if each.name not in everywhere]
            if model.is_rocky:
                # Its steps are no SQL of the author's: `rocky emit-sql` chooses how to write them.
                uses = [each for each in uses if each.name != "pipe-syntax"]
            yield from lint_uses(model, uses, targets)


def lint_uses(
    model: ModelFile, uses: Sequence[Use], targets: Sequence[str]
) -> Iterator[Diagnostic]:
    """The findings of one model, but for what its settings allow."""
    found = [(use, facts) for use in uses if (facts := divergences(use, targets))]
    if not found:
        return
    # Asking a model for its settings may read them: only those are asked that have findings.
    allowed = allowed_names(model)
    for use, facts in found:
        if use.name not in allowed:
            yield _finding(model, use, facts)


def lint_body(
    function: ProjectFunction, uses: Sequence[Use], targets: Sequence[str], allowed: Collection[str]
) -> Iterator[Diagnostic]:
    """The findings of a SQL function's body, but for what the project allows."""
    signature = function.signature
    for use in uses:
        facts = divergences(use, targets) if use.name not in allowed else {}
        if facts:
            start = function.body_start
            span = signature.place if start is None else Span(use.start + start, use.end + start)
            found = _told(use, facts, signature.body or "")
            yield replace(found, span=span, path=signature.path)


def allowed_names(model: ModelFile) -> Collection[str]:
    """The functions and forms that a model's own settings allow."""
    own = model.settings.portability
    return {name.lower() for name in own.allow} if own is not None else frozenset()


def divergences(use: Use, targets: Sequence[str]) -> dict[str, Fact]:
    """The engines on which a use is not what it is in Spark, with what they make of it."""
    facts = {target: judge(use, target) for target in targets}
    return {target: fact for target, fact in facts.items() if fact.verdict is not Verdict.SAME}


def _finding(model: ModelFile, use: Use, facts: Mapping[str, Fact]) -> Diagnostic:
    span = Span(use.start, use.end)
    return replace(
        # Of a plan's SQL nothing was written by anybody: there is no call to show in its place.
        _told(use, facts, "" if model.is_python else model.sql),
        span=model.place_in_file(span),
        path=model.path,
        labels=model.labels_in_macros(span),
        model=model.name,
    )


def _told(use: Use, facts: Mapping[str, Fact], sql: str) -> Diagnostic:
    """What is to be said of a use in a text, without its place in a file."""
    known = any(fact.verdict is not Verdict.UNKNOWN for fact in facts.values())
    notes: tuple[str, ...] = ()
    if len(facts) == 1:
        ((target, fact),) = facts.items()
        message = describe(use, target, fact)
    else:
        message = f"{subject(use)} is not portable to {_listed(facts)}"
        notes = tuple(f"{TITLES[target]}: {_short(fact)}" for target, fact in facts.items())
    return Diagnostic(
        Code.DIALECT_DIVERGENCE,
        message,
        severity=severity_of(Code.DIALECT_DIVERGENCE) if known else Severity.WARNING,
        help=_advice(sql, use, facts),
        notes=notes,
    )


def describe(use: Use, target: str, fact: Fact) -> str:
    """What an engine makes of a use, as a sentence."""
    title, what = TITLES[target], subject(use)
    if fact.verdict is Verdict.DIFFERS:
        return f"{title} reads {what} otherwise: {fact.note}"
    if fact.verdict is Verdict.UNKNOWN:
        return f"whether {what} means the same on {title} is not known"
    if use.arguments != CONSTRUCT:
        return f"{what} is not a function of {title}"
    if fact.verdict is Verdict.RENAMED:
        return f"{title} writes {what} otherwise"
    return f"{title} does not have {what}"


def _short(fact: Fact) -> str:
    if fact.verdict is Verdict.DIFFERS:
        return fact.note
    if fact.verdict is Verdict.RENAMED:
        return f"is written otherwise: {_quoted(fact.instead)}"
    return "is not there" if fact.verdict is Verdict.NONE else "is not known"


def subject(use: Use) -> str:
    """A function by its name, a form in words."""
    if use.arguments != CONSTRUCT:
        return f"`{use.name}`"
    return constructs_of(DIALECTS[0])[use.name].spark


def _listed(targets: Iterable[str], *before: str) -> str:
    *others, last = (*before, *(TITLES[target] for target in targets))
    return f"{', '.join(others)} and {last}" if others else last


def _advice(sql: str, use: Use, facts: Mapping[str, Fact]) -> str:
    """The form that Spark and the engines read alike; else what each engine has."""
    portable = portable_forms().get(use.name)
    if portable is not None:
        return f"write {_quoted(portable)}: {_listed(facts, 'Spark')} read it alike"
    ways = [way for target, fact in facts.items() if (way := _way(sql, use, target, fact))]
    allow = f'allow it: `[portability] allow = ["{use.name}"]`'
    return "; ".join(ways) if ways else f"rewrite it, or {allow}"


def _way(sql: str, use: Use, target: str, fact: Fact) -> str | None:
    """How an engine would be told the same, by the table or by the transpiler."""
    title = TITLES[target]
    if fact.verdict is Verdict.UNKNOWN:
        return f"try it on {title}, and allow it if it does the same"
    if fact.instead:
        return f"on {title} it is {_quoted(fact.instead)}"
    written = _transpiled(sql, use, target, fact)
    return f"on {title}, sqlglot writes `{written}`: check it" if written else None


def _quoted(form: str) -> str:
    """A form in backticks; one that is a sentence, or has backticks of its own, as it is."""
    return form if form.startswith("the ") or "`" in form else f"`{form}`"


def _transpiled(sql: str, use: Use, target: str, fact: Fact) -> str | None:
    """What the parser library would write for a call, unless it passes the name on."""
    # It brings the parser library with it, which a compile of what is portable does without.
    from rocky.language.syntax.transpiler import call_at, transpile_call  # noqa: PLC0415

    if use.arguments == CONSTRUCT or not sql:
        return None
    call = call_at(sql, use.start)
    written = transpile_call(call, target) if call is not None else None
    if call is None or written is None or _squeezed(call) == _squeezed(written):
        return None
    passed = use.name in (name.lower() for name in _NAME.findall(written))
    return None if passed and fact.verdict is Verdict.NONE else written


def _squeezed(sql: str) -> str:
    return _SPACE.sub("", sql).lower()

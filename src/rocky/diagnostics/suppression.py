"""Suppression: which findings the project has said it can live with, by level or by an allow.

An allow is a comment `-- rocky: allow(CODE)`. Before the first SQL token it covers the whole model,
alone on a line the next line of SQL, after SQL its own line. Only adjustable findings can be
silenced. An error on which Spark would fail stays, and an allow that names one, names nothing or
silences nothing is itself a finding, so that a left-over allow cannot hide the next mistake.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from rocky.diagnostics.codes import BY_CODE, Code, Severity
from rocky.diagnostics.diagnostic import Diagnostic, Edit, Fix, FixSafety, SourceText, Span
from rocky.diagnostics.suggestion import closest_code, code_named

_MARK = "rocky"

# Strings first: a `--` inside one opens no comment. In a raw string a backslash is a letter; at
# the end of a comment's line it is not.
_PIECE = re.compile(
    r"""(?P<comment>--(?:\\\n|[^\r\n])*)
      | (?P<block>/\*)
      | (?P<sql>(?<![A-Za-z0-9_])[rR](?:'[^']*'|"[^"]*")
              | '(?:[^'\\]|\\.)*'? | "(?:[^"\\]|\\.)*"? | `[^`]*`?
              | \w+ | [^\s\w'"`/-]+ | [^\s])""",
    re.VERBOSE | re.DOTALL,
)
_BLOCK_EDGE = re.compile(r"/\*|\*/")
# A space before the colon makes it prose, unless an allow follows.
_DIRECTIVE = re.compile(
    r"(?:--+|/\*+)\s*rocky(?::|\s+:(?=\s*allow\b))\s*(?P<word>[\w-]*)\s*(?P<list>\([^)]*\))?",
    re.IGNORECASE,
)
_NAME = re.compile(r"[^\s,()]+")


@dataclass(frozen=True, slots=True)
class Allow:
    """One name in an allow: what it allows, where it is written, and what it covers.

    `name` is empty when the comment asks Rocky for something that is not an allow. `comment`
    is the whole comment when this name is the only one in it, so that a fix may remove it.
    """

    path: str
    name: str
    span: Span
    covers: Span
    whole_model: bool
    comment: Span | None = None


def is_marked(text: str) -> bool:
    """Whether a text can hold an allow: asking this is all that most models cost."""
    return _MARK in text or _MARK in text.lower()


def find_allows(sql_text: str, path: str, *, start: int = 0) -> tuple[Allow, ...]:
    """The allows of a model's text from offset `start` (after any front matter)."""
    if not is_marked(sql_text):
        return ()
    text = SourceText(path, sql_text)
    first_sql: int | None = None
    sql_lines: set[int] = set()
    comments: list[Span] = []
    for kind, span in _pieces(sql_text, start):
        if kind == "comment":
            comments.append(span)
            continue
        if first_sql is None:
            first_sql = span.start
        sql_lines.update(range(text.line_of(span.start), text.line_of(span.end - 1) + 1))
    allows: list[Allow] = []
    for comment in comments:
        whole = first_sql is None or comment.start < first_sql
        covers = Span(0, len(sql_text) + 1) if whole else _covered(text, comment, sql_lines)
        allows.extend(_allows_in(text, comment, covers, whole_model=whole))
    return tuple(allows)


def _pieces(text: str, start: int) -> Iterator[tuple[str, Span]]:
    """The comments and the SQL of a text; white space falls away."""
    at = start
    while piece := _PIECE.search(text, at):
        at = piece.end()
        kind = piece.lastgroup or "sql"
        if kind == "block":
            at, kind = _end_of_block(text, at), "comment"
        yield kind, Span(piece.start(), at)


def _end_of_block(text: str, at: int) -> int:
    """Where a block comment that opened before `at` ends. Spark's nest."""
    depth = 1
    while depth and (edge := _BLOCK_EDGE.search(text, at)):
        depth += 1 if edge.group() == "/*" else -1
        at = edge.end()
    return len(text) if depth else at


def _covered(text: SourceText, comment: Span, sql_lines: set[int]) -> Span:
    """The line of SQL a comment speaks of: its own, or the next one when it stands alone."""
    line = text.line_of(comment.start)
    last = len(text.line_starts)
    while line not in sql_lines and line < last:
        line += 1
    found = text.line_span(line)
    return Span(found.start, found.end + 1)


def _allows_in(
    text: SourceText, comment: Span, covers: Span, *, whole_model: bool
) -> Iterator[Allow]:
    """The allows of one comment; none when the comment does not speak to Rocky."""
    directive = _DIRECTIVE.match(text.text, comment.start, comment.end)
    if directive is None:
        return
    names = [
        Span(name.start(), name.end())
        for name in _NAME.finditer(text.text, *directive.span("list"))
        if directive["list"] is not None
    ]
    if directive["word"].lower() != "allow" or not names:
        yield Allow(text.path, "", comment, covers, whole_model)
        return
    only = comment if len(names) == 1 else None
    for span in names:
        name = text.text[span.start : span.end]
        yield Allow(text.path, name, span, covers, whole_model, only)


Levels = Mapping[str, str] | Mapping[Code, str]
"""`allow`, `warn` or `error` by code or name."""


class Level(StrEnum):
    """What `[lints]` in `rocky.toml` can make of a code."""

    ALLOW = "allow"
    WARN = "warn"
    ERROR = "error"


_SEVERITY = {Level.WARN: Severity.WARNING, Level.ERROR: Severity.ERROR}


def apply_suppressions(
    diagnostics: Iterable[Diagnostic],
    allows_by_path: Mapping[str, Sequence[Allow]],
    levels: Levels,
    levels_by_path: Mapping[str, Levels] | None = None,
    *,
    idle: Collection[Code] = (),
) -> list[Diagnostic]:
    """The findings that stay, at the severity the project gives them, then those about allows.

    `levels` are the project's; `levels_by_path` those of single files, which win over them.
    `allows_by_path` should hold only files that were compiled: an allow in one that was not
    would look unused. `idle` are codes that nobody looked for: their allows may be needed.
    """
    chosen = _Chosen(levels, levels_by_path or {})
    used: set[Allow] = set()
    kept: list[Diagnostic] = []
    broken: set[str | None] = set()
    for diagnostic in diagnostics:
        allow = _allow_for(diagnostic, allows_by_path)
        if allow is not None:
            used.add(allow)
        elif not is_suppressible(diagnostic):
            kept.append(diagnostic)
            broken.add(diagnostic.path)
        elif adjusted := chosen.adjust(diagnostic):
            kept.append(adjusted)
    # An allow cannot allow itself, so the allows of W022 are judged after all the others.
    for last in (False, True):
        for path, allows in allows_by_path.items():
            awake = [allow for allow in allows if _code_of(allow) not in idle]
            judged = [allow for allow in awake if _allows_allows(allow) is last]
            for finding in _unused(judged, used, broken=path in broken):
                allow = None if last else _allow_for(finding, allows_by_path)
                if allow is not None:
                    used.add(allow)
                elif adjusted := chosen.adjust(finding):
                    kept.append(adjusted)
    return kept


def is_suppressible(diagnostic: Diagnostic) -> bool:
    """Whether a finding may be silenced: its code is adjustable, and Spark would not fail on it."""
    return BY_CODE[diagnostic.code].suppressible and diagnostic.condition is None


class _Chosen:
    """The level of a finding: its file's, else the project's, else None."""

    def __init__(self, levels: Levels, by_path: Mapping[str, Levels]) -> None:
        self.project = _by_code(levels)
        self.files = {path: _by_code(each) for path, each in by_path.items() if each}

    def adjust(self, diagnostic: Diagnostic) -> Diagnostic | None:
        """The finding at its level, or None when it is allowed."""
        own = self.files.get(diagnostic.path or "", {})
        level = own.get(diagnostic.code) or self.project.get(diagnostic.code)
        if level is None:
            return diagnostic
        return None if level is Level.ALLOW else replace(diagnostic, severity=_SEVERITY[level])


def _by_code(levels: Levels) -> dict[Code, Level]:
    """The levels by code; names that are no code were reported when the project was loaded."""
    named = ((code_named(name), level) for name, level in levels.items())
    return {info.code: Level(level) for info, level in named if info is not None}


def _allow_for(
    diagnostic: Diagnostic, allows_by_path: Mapping[str, Sequence[Allow]]
) -> Allow | None:
    """The allow that covers a finding, if it may be silenced at all."""
    allows = allows_by_path.get(diagnostic.path or "")
    if not allows or not is_suppressible(diagnostic):
        return None
    for allow in allows:
        info = code_named(allow.name)
        if info is not None and info.code is diagnostic.code and _covers(allow, diagnostic):
            return allow
    return None


def _covers(allow: Allow, diagnostic: Diagnostic) -> bool:
    if diagnostic.span is None:
        return allow.whole_model
    return allow.covers.start <= diagnostic.span.start < allow.covers.end


def _code_of(allow: Allow) -> Code | None:
    info = code_named(allow.name)
    return info.code if info is not None else None


def _allows_allows(allow: Allow) -> bool:
    return _code_of(allow) is Code.UNUSED_ALLOW


def _unused(allows: Sequence[Allow], used: set[Allow], *, broken: bool) -> Iterable[Diagnostic]:
    """A finding for each allow that silences nothing.

    In a file that Spark would refuse, the adjustable rules may not have run, so there an
    allow is reported only when it could never work.
    """
    for allow in allows:
        info = code_named(allow.name)
        if not allow.name:
            help_text = "write `-- rocky: allow(CODE)`, or several codes with commas between"
            yield _finding(allow, "a comment for Rocky that is not an allow", help_text)
        elif info is None:
            near = closest_code(allow.name)
            help_text = f"did you mean `{near}`?" if near else "`rocky explain` lists every code"
            yield _finding(allow, f"`{allow.name}` is not a diagnostic code", help_text)
        elif not info.suppressible:
            help_text = "fix what it reports and remove the allow"
            message = f"`{allow.name}` cannot be allowed: it reports what would fail"
            yield _finding(allow, message, help_text)
        elif allow not in used and not broken:
            where = "in this model" if allow.whole_model else "on this line"
            message = f"nothing {where} is reported as `{allow.name}`"
            yield _finding(allow, message, "remove the allow")


def _finding(allow: Allow, message: str, help_text: str) -> Diagnostic:
    fix = None
    if allow.comment is not None:
        fix = Fix("remove the allow", (Edit(allow.comment, ""),), FixSafety.SAFE)
    return Diagnostic(
        Code.UNUSED_ALLOW,
        message,
        allow.span,
        allow.path,
        Severity.WARNING,
        help=help_text,
        fix=fix,
    )

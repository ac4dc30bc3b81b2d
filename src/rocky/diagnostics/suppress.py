"""Suppression: which findings the project has said it can live with.

Only adjustable findings can be silenced. An error on which Spark would fail stays, and an
allow that names one, names nothing or silences nothing is itself a finding, so that a
left-over allow cannot hide the next mistake.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum

from rocky.diagnostics.allows import Allow, find_allows
from rocky.diagnostics.codes import BY_CODE, Code, Severity
from rocky.diagnostics.diagnostic import Diagnostic, Edit, Fix, FixSafety
from rocky.diagnostics.named import closest_code, code_named

__all__ = ["Allow", "Level", "Levels", "apply_suppressions", "find_allows", "is_suppressible"]


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
) -> list[Diagnostic]:
    """The findings that stay, at the severity the project gives them, then those about allows.

    `levels` are the project's; `levels_by_path` those of single files, which win over them.
    `allows_by_path` should hold only files that were compiled: an allow in one that was not
    would look unused.
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
    # An allow cannot vouch for itself, so the allows of W022 are judged after all the others.
    for last in (False, True):
        for path, allows in allows_by_path.items():
            judged = [allow for allow in allows if _allows_allows(allow) is last]
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


def _allows_allows(allow: Allow) -> bool:
    info = code_named(allow.name)
    return info is not None and info.code is Code.UNUSED_ALLOW


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
            yield _finding(allow, f"`{allow.name}` is no diagnostic code", help_text)
        elif not info.suppressible:
            help_text = "mend what it reports and remove the allow"
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

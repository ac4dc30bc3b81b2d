"""Macros on disk: one `CREATE MACRO` a file below `macros/`, and models with their calls expanded.

A macro's name is that of its file. The parser is only loaded for a project that has macros, or that
calls some.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rocky.diagnostics import Code, Diagnostic, Label
from rocky.diagnostics.diagnostic import Span
from rocky.language.macros.calls import find_mentions, has_calls
from rocky.language.macros.declaration import (
    Declaration,
    DeclarationProblem,
    parse_declaration,
)
from rocky.language.macros.expansion import Expansion
from rocky.language.macros.faults import MacroFault
from rocky.language.macros.pieces import Piece, Pieces, Place, copied, made, text_of
from rocky.language.replacements import Replaced
from rocky.project.expansion_cache import ExpansionCache, digest_texts
from rocky.project.files import Report, child_path, read_text, scan_folders
from rocky.project.model_text import blank_comments, fill_variables, find_variables
from rocky.project.models import stem_of

# The parser is half of what a compile costs in which nothing is stale.
if TYPE_CHECKING:
    from rocky.language.macros.library import MacroLibrary

FOLDER: Final = "macros"


@dataclass(frozen=True, slots=True)
class MacroFile:
    """A macro of a project."""

    path: str
    declaration: Declaration
    pieces: Pieces
    comments: tuple[Span, ...] = ()

    @property
    def name(self) -> str:
        return self.declaration.name

    @property
    def key(self) -> str:
        return self.declaration.key


@dataclass(slots=True)
class Macros:
    """The macros of a project by key; `broken` are keys of files that declare none.

    `variables` are those that they ask for, `texts` what they are, by path, with values filled in.
    """

    files: dict[str, MacroFile] = field(default_factory=dict)
    broken: set[str] = field(default_factory=set)
    variables: set[str] = field(default_factory=set)
    texts: dict[str, str] = field(default_factory=dict)
    cache: ExpansionCache | None = None
    _library: "MacroLibrary | None" = None

    def expand(self, text: str, *, keep: bool = True) -> Expansion | list[MacroFault] | None:
        """A text with its calls expanded, or what is wrong with them; None if it calls none.

        Without `keep`, nothing of the text is kept for the next load.
        """
        if not has_calls(text) or all(each.arguments is None for each in find_mentions(text)):
            return None
        cache = self.cache if keep else None
        known = cache.recall(text) if cache is not None else None
        if known is not None:
            return known
        found = self.library().expand(text)
        if isinstance(found, Expansion) and cache is not None:
            cache.keep(found)
        return found

    def save(self) -> None:
        """Keep what was expanded for the next load."""
        if self.cache is not None:
            self.cache.save()

    def library(self) -> "MacroLibrary":
        if self._library is None:
            from rocky.language.macros.library import Macro, MacroLibrary  # noqa: PLC0415

            self._library = MacroLibrary(
                (
                    Macro(each.path, each.declaration, each.pieces, each.comments)
                    for each in self.files.values()
                ),
                self.broken,
            )
        return self._library


def is_macro_folder(path: str) -> bool:
    """Whether a folder of the project holds macros, which are no models."""
    return path == FOLDER or path.startswith(f"{FOLDER}/")


def reach_macros(text: str, macros: Mapping[str, MacroFile]) -> set[str]:
    """The keys of the macros that a text calls, itself or through others; any name may be one."""
    found: set[str] = set()
    waiting = [text]
    while waiting:
        text = waiting.pop()
        for each in find_mentions(text):
            if each.arguments is None:
                continue
            waiting += [text[it.value.start : it.value.end] for it in each.arguments]
            key = each.name.lower()
            if key not in found and key in macros:
                waiting.append(text_of(macros[key].pieces))
            found.add(key)
    return found


def load_macros(
    root: str, variables: Mapping[str, str], report: Report, *, remember: bool = False
) -> Macros:
    """The macros below `macros/`; what is wrong with one is reported, whether it is called or not.

    `variables` are the values of `@var(name)`. With `remember`, texts that the last such load has
    expanded with the same macros are not expanded again.
    """
    found = Macros()
    for folder in scan_folders(root, FOLDER, report):
        for name in folder.names:
            if name.lower().endswith(".sql"):
                _load_macro(root, child_path(folder.path, name), variables, found, report)
    if not found.files:
        return found
    # Values of variables may be secrets: nothing that has one in it is kept.
    if remember and not found.variables:
        found.cache = ExpansionCache(Path(root), digest_texts(found.texts))
    if found.cache is None or not found.cache.is_checked:
        library = found.library()
        library.check()
        for fault in library.faults:
            report(diagnose_fault(fault))
        if library.faults:
            # Whoever calls a macro with a fault is to be told so at each load.
            found.cache = None
    if found.cache is not None:
        found.cache.keep_checked()
    return found


def _load_macro(
    root: str, path: str, variables: Mapping[str, str], found: Macros, report: Report
) -> None:
    key = stem_of(path).lower()
    read = read_text(root, path, report)
    if read is None:
        found.broken.add(key)
        return
    filled, missing = fill_variables(read[0], variables)
    found.variables.update(each.name for each in find_variables(read[0]) if each.name)
    for each in missing:
        said = f"the variable `{each.name}` has no value" if each.name else "no variable"
        hint = f"pass `--var {each.name}=...`, or give a default: `@var({each.name}, ...)`"
        report(Diagnostic(Code.MISSING_VARIABLE, said, each.span, path, help=hint))
    text, comments = blank_comments(filled.text)
    # Comments are left out of what is made, but not of where it was written.
    found.texts[path] = f"{read[0]}\0{filled.text}"
    declared = parse_declaration(text)
    if missing or isinstance(declared, DeclarationProblem):
        found.broken.add(key)
        if isinstance(declared, DeclarationProblem):
            report(_unusable(declared, filled, path))
        return
    problem = _misnamed(declared, path) or _declared_twice(declared, found)
    if problem is not None:
        found.broken.add(key)
        report(_unusable(problem, filled, path))
        return
    pieces = _pieces(text, filled, path)
    found.files[key] = MacroFile(path, declared, pieces, tuple(comments))


def _unusable(problem: DeclarationProblem, filled: Replaced, path: str) -> Diagnostic:
    span = filled.written(problem.span)
    return Diagnostic(Code.UNUSABLE_MACRO, problem.message, span, path, help=problem.help)


def _misnamed(declared: Declaration, path: str) -> DeclarationProblem | None:
    stem = stem_of(path)
    if stem.lower() == declared.key:
        return None
    return DeclarationProblem(
        f"the macro `{declared.name}` is in the file of a macro `{stem}`",
        declared.head,
        "a macro is found by the name of its file: rename it,"
        f" or the file to `{declared.name}.sql`",
    )


def _declared_twice(declared: Declaration, found: Macros) -> DeclarationProblem | None:
    first = found.files.get(declared.key)
    if first is None:
        return None
    said = f"there is a macro `{first.name}` in `{first.path}` already"
    return DeclarationProblem(said, declared.head, "rename one of them")


def _pieces(text: str, filled: Replaced, path: str) -> Pieces:
    """The text of a macro in pieces: the values of variables have the places of those."""
    pieces: list[Piece] = []
    at = written = 0
    for part in filled.parts:
        pieces.append(copied(text[at : part.made.start], path, written))
        pieces.append(made(text[part.made.start : part.made.end], (Place(path, part.written),)))
        at, written = part.made.end, part.written.end
    return [*pieces, copied(text[at:], path, written)]


def diagnose_fault(fault: MacroFault) -> Diagnostic:
    """What is wrong with a macro, at its place in its own file."""
    first, *others = fault.places
    labels = tuple(Label(each.span, "in the macro that it calls", each.path) for each in others)
    return Diagnostic(
        fault.code,
        fault.message,
        first.span,
        first.path,
        labels=(*labels, *fault.labels),
        help=fault.help,
    )


def fault_span(fault: MacroFault) -> Span:
    """Where in the text that calls a fault is."""
    return fault.places[0].span

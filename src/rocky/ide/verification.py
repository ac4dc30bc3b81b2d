"""Verification: a change of a project, compiled before anybody makes it.

The caller brings the compiler, because only it knows how to compile texts that are not on disk.
"""

from collections import Counter
from collections.abc import Mapping, Set
from typing import NamedTuple

from rocky.analysis.compilation import Compilation
from rocky.diagnostics.diagnostic import Diagnostic
from rocky.ide.edits import Check, EditSet, Refused, edited_texts
from rocky.ide.view import View


class Renaming(NamedTuple):
    """What is to have another name: tables with theirs, and columns that all get `name`.

    Names of tables and columns are in lower case. `same_reads` is False where a model may come to
    read other tables.
    """

    name: str = ""
    tables: Mapping[str, str] = {}
    columns: Set[tuple[str, str]] = frozenset()
    same_reads: bool = True


def verify_change(
    view: View, change: EditSet, check: Check, renaming: Renaming
) -> EditSet | Refused:
    """The change, if the project compiles with it as it did, but for the names."""
    compiled = check(edited_texts(view, change))
    moved = {each.new: each.old for each in change.moves}
    worse = _new_finding(view.compilation, compiled, moved)
    if worse is not None:
        return Refused(f"with this change, `{worse.path}` would say: {worse.message}")
    for key in view.compilation.models:
        reason = _difference(view.compilation, compiled, key, renaming)
        if reason is not None:
            return Refused(reason)
    return change


def _new_finding(
    before: Compilation, after: Compilation, moved: dict[str, str]
) -> Diagnostic | None:
    """A finding that was not there before, by its code and its file."""
    known = Counter((each.code, each.path) for each in before.diagnostics)
    for each in after.diagnostics:
        path = moved.get(each.path or "", each.path)
        known[each.code, path] -= 1
        if known[each.code, path] < 0:
            return each
    return None


def _difference(
    before: Compilation, after: Compilation, key: str, renaming: Renaming
) -> str | None:
    """How a model would come out otherwise than with the new name; None if it would not."""
    now = renaming.tables.get(key, key).lower()
    if now not in after.models:
        return f"`{key}` would not be compiled"
    old, made = before.models[key], after.models[now]
    wanted = []
    for each in old.columns:
        name = each.name.lower()
        name = renaming.name.lower() if (key, name) in renaming.columns else name
        wanted.append((name, each.type, each.nullable))
    if wanted != [(each.name.lower(), each.type, each.nullable) for each in made.columns]:
        return f"the columns of `{old.name}` would be others"
    reads = {renaming.tables.get(each.lower(), each).lower() for each in old.reads}
    if renaming.same_reads and reads != {each.lower() for each in made.reads}:
        return f"`{old.name}` would read other tables"
    return None

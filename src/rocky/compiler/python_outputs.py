"""The declared `output` of a Python model against what its plan gives."""

from collections.abc import Iterator, Sequence
from typing import Final

from rocky.analysis.python_plans import INSTALL_CONNECT, PlanUse
from rocky.compiler.setting_binder import SettingFinding
from rocky.diagnostics import Code, Diagnostic, Severity
from rocky.diagnostics.diagnostic import Span
from rocky.diagnostics.suggestion import suggestion
from rocky.language.datatypes import types as t
from rocky.language.datatypes.types import StructField
from rocky.project import ModelFile
from rocky.project.python_models import OUTPUT_EXAMPLE
from rocky.project.toml.variables import Keys

_WHOLE: Final = Span(0, 0)
"""The whole of a setting, wherever it stands."""


def compare_output(
    declared: Sequence[StructField], given: Sequence[StructField]
) -> list[SettingFinding]:
    """Where what is declared is not what the code gives."""
    return [SettingFinding(keys, "", found) for keys, found in _differences(declared, given)]


def unknown_output(model: ModelFile, use: PlanUse, hindrance: str | None) -> Diagnostic:
    """What is said of a model that neither declares its output nor has a plan."""
    if use == "kept":
        return Diagnostic(
            Code.QUERY_NOT_UNDERSTOOD,
            f"what `{model.name}` gives is not known here: its code was not run",
            severity=Severity.WARNING,
            help="`rocky compile` builds its plan, which is then known here; a build that may run"
            " the code sets `ROCKY_ANALYSE=always`; or declare its `output`",
        )
    message = f"Python model `{model.name}` declares no `output`"
    advice = f"list its columns in a sidecar: {OUTPUT_EXAMPLE}"
    if hindrance is not None:
        why = hindrance.removesuffix(f"; {INSTALL_CONNECT}")
        message += f", and its plan cannot be built: {why}"
        advice = f"{INSTALL_CONNECT}, or {advice}" if why != hindrance else advice
    return Diagnostic(Code.UNUSABLE_FILE, message, help=advice)


def _differences(
    declared: Sequence[StructField], given: Sequence[StructField]
) -> Iterator[tuple[Keys, Diagnostic]]:
    by_name = {each.name.lower(): each for each in given}
    for at, each in enumerate(declared):
        found = by_name.get(each.name.lower())
        if found is None:
            yield (
                ("output", at, "name"),
                _differs(
                    f"`{each.name}` is declared, and the code gives no such column",
                    suggestion(each.name, [column.name for column in given]),
                ),
            )
        elif found.type is not each.type and found.type is not t.UNKNOWN:
            yield (
                ("output", at, "type"),
                _differs(
                    f"`{each.name}` is declared `{each.type}`, and the code gives `{found.type}`",
                    f'write `type = "{found.type}"`, or cast the column',
                ),
            )
    names = [each.name.lower() for each in declared]
    extra = [each.name for each in given if each.name.lower() not in names]
    for name in extra:
        message = f"the code gives a column `{name}`, which is not declared"
        yield ("output",), _differs(message, "declare it, or do not select it")
    order = [each.name.lower() for each in given]
    if not extra and sorted(names) == sorted(order) and names != order:
        shown = ", ".join(f"`{each.name}`" for each in given)
        message = "the columns are declared in another order than the code gives them"
        yield ("output",), _differs(message, f"the code gives {shown}")


def _differs(message: str, advice: str | None) -> Diagnostic:
    return Diagnostic(Code.UNUSABLE_FILE, message, _WHOLE, help=advice)

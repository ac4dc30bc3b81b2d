"""What Spark's analyser said about a compilation, as text and as JSON."""

from collections.abc import Sequence
from typing import Any, Protocol

from rocky.cli.render.compilation import counted


class Difference(Protocol):
    """One thing on which Rocky and Spark do not agree."""

    @property
    def model(self) -> str: ...
    @property
    def column(self) -> str | None: ...
    @property
    def what(self) -> str: ...
    @property
    def ours(self) -> str: ...
    @property
    def spark(self) -> str: ...


class Verification(Protocol):
    """The outcome of asking Spark. Stated here so that no JVM is near a compile without it."""

    @property
    def engine(self) -> str: ...
    @property
    def models(self) -> int: ...
    @property
    def columns(self) -> int: ...
    @property
    def skipped(self) -> Sequence[tuple[str, str]]: ...
    @property
    def differences(self) -> Sequence[Difference]: ...
    @property
    def agrees(self) -> bool: ...


def render_verification(found: Verification) -> str:
    """A line for each difference, then how much was compared."""
    lines = []
    for each in found.differences:
        place = f"{each.model}.{each.column}" if each.column is not None else each.model
        lines.append(f"{place}: {each.what} differs")
        lines.append(f"    rocky: {each.ours}")
        lines.append(f"    spark: {each.spark}")
    lines += [f"{model}: not compared, {reason}" for model, reason in found.skipped]
    compared = f"{counted(found.columns, 'column')} of {counted(found.models, 'model')}"
    if found.agrees:
        lines.append(f"{found.engine} agrees on the names, types and nullability of {compared}")
    else:
        count = counted(len(found.differences), "difference")
        lines.append(f"{count} from {found.engine} in {compared}")
    return "\n".join(lines)


def verification_document(found: Verification) -> dict[str, Any]:
    return {
        "engine": found.engine,
        "agrees": found.agrees,
        "models": found.models,
        "columns": found.columns,
        "skipped": [{"model": model, "reason": reason} for model, reason in found.skipped],
        "differences": [
            {
                "model": each.model,
                "column": each.column,
                "what": each.what,
                "rocky": each.ours,
                "spark": each.spark,
            }
            for each in found.differences
        ],
    }

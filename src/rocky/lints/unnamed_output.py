"""W021: an output expression without an alias, so that Spark makes a name up."""

import re
from collections.abc import Iterator
from typing import Final

from rocky.diagnostics import Code, Diagnostic
from rocky.diagnostics.codes import severity_of
from rocky.ir.model import ModelIr

_LONGEST: Final = 40
_NOT_A_NAME: Final = re.compile(r"\W+", re.ASCII)


def unnamed_output(ir: ModelIr) -> Iterator[Diagnostic]:
    """One finding an output column that nobody named."""
    for column in ir.columns:
        if not column.named:
            yield Diagnostic(
                Code.UNNAMED_OUTPUT,
                f"this output expression has no name; Spark would call it `{_short(column.name)}`",
                column.span,
                severity=severity_of(Code.UNNAMED_OUTPUT),
                help=f"give it one: `... AS {_alias(column.name)}`",
            )


def _alias(made_up: str) -> str:
    """A name close to the one Spark makes up, such as `sum_amount` for `sum(amount)`."""
    name = _NOT_A_NAME.sub("_", made_up.lower()).strip("_")
    return name if name and len(name) <= _LONGEST and not name[0].isdigit() else "name"


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 3]}..."

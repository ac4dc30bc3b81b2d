"""E014: two output columns of one name. Names are compared without case, as in any Spark table."""

from collections.abc import Iterator, Sequence

from rocky.diagnostics import Code, Diagnostic, Label
from rocky.diagnostics.codes import severity_of
from rocky.ir.model import ModelIr, OutputColumn


def duplicate_output_column(ir: ModelIr) -> Iterator[Diagnostic]:
    """One finding a name that was written twice, and one for all that a star repeats."""
    columns = ir.columns
    if len({column.name.lower() for column in columns}) == len(columns):
        return
    by_name: dict[str, list[OutputColumn]] = {}
    for column in columns:
        by_name.setdefault(column.name.lower(), []).append(column)
    starred: list[list[OutputColumn]] = []
    for same in by_name.values():
        if len(same) < 2:
            continue
        if ir.stars and any(column.span is None for column in same):
            starred.append(same)
        else:
            yield _written(same)
    if starred:
        yield _through_star(starred, ir)


def _written(same: Sequence[OutputColumn]) -> Diagnostic:
    first, second, *others = same
    labels = [Label(first.span, f"`{first.name}` is already here")] if first.span else []
    labels += [Label(column.span, "and again here") for column in others if column.span]
    return Diagnostic(
        Code.DUPLICATE_OUTPUT_COLUMN,
        f"{len(same)} output columns are named `{second.name}`",
        second.span,
        severity=severity_of(Code.DUPLICATE_OUTPUT_COLUMN),
        labels=tuple(labels),
        help="leave one out, or give it another name with `AS`",
    )


def _through_star(repeated: Sequence[Sequence[OutputColumn]], ir: ModelIr) -> Diagnostic:
    names = ", ".join(f"`{same[0].name}`" for same in repeated)
    verb = "are" if len(repeated) > 1 else "is"
    written = [column for same in repeated for column in same if column.span is not None]
    labels = tuple(Label(column.span, f"`{column.name}` is written here") for column in written)
    left_out = ", ".join(same[0].name for same in repeated)
    return Diagnostic(
        Code.DUPLICATE_OUTPUT_COLUMN,
        f"{names} {verb} in the output more than once through a star",
        ir.stars[-1],
        severity=severity_of(Code.DUPLICATE_OUTPUT_COLUMN),
        labels=labels,
        help=f"list the columns, or leave the repeated ones out with `* EXCEPT ({left_out})`"
        " on the side that should not give them",
    )

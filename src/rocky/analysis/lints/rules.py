"""The lints, in the order in which they look, and those about a model's output columns."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from rocky.analysis.lints.settings import (
    Texts,
    freshness_column_type,
    key_column_type,
    names_columns,
    setting_column_missing,
)
from rocky.analysis.lints.time_interval import time_interval
from rocky.diagnostics import Code, Diagnostic, Label
from rocky.diagnostics.codes import severity_of
from rocky.language.ir import ModelIr, OutputColumn
from rocky.project.configuration.strategies import HISTORY_COLUMNS, Snapshot
from rocky.project.models import ModelFile


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


_SHOWN_READERS: Final = 3
_SHOWN_COLUMNS: Final = 12


def select_star(model: ModelFile, ir: ModelIr, readers: Sequence[str]) -> Iterator[Diagnostic]:
    """One finding a model: its last open star, with who would feel a change."""
    if not ir.stars or not readers:
        return
    shown = ", ".join(f"`{reader}`" for reader in readers[:_SHOWN_READERS])
    more = len(readers) - _SHOWN_READERS
    others = f" and {more} more" if more > 0 else ""
    yield Diagnostic(
        Code.SELECT_STAR,
        f"the columns of model `{model.name}` change whenever its inputs do,"
        f" and {shown}{others} {'read' if len(readers) > 1 else 'reads'} it",
        model.place_in_file(ir.stars[-1]),
        model.path,
        severity_of(Code.SELECT_STAR),
        labels=model.labels_in_macros(ir.stars[-1]),
        help=_advice(model, ir),
        model=model.name,
    )


def _advice(model: ModelFile, ir: ModelIr) -> str:
    # The strategy adds these itself: a query that lists them would be refused.
    added = HISTORY_COLUMNS if isinstance(model.strategy, Snapshot) else ()
    names = [column.name for column in ir.columns if column.name not in added]
    if ir.known and 0 < len(names) <= _SHOWN_COLUMNS:
        return f"list the columns: `{', '.join(names)}`"
    return "list the columns that readers need"


OutputRule = Callable[[ModelIr], Iterable[Diagnostic]]
SettingsRule = Callable[[ModelFile, ModelIr, Texts], Iterable[Diagnostic]]

OUTPUT_RULES: Final[tuple[OutputRule, ...]] = (duplicate_output_column, unnamed_output)
SETTINGS_RULES: Final[tuple[SettingsRule, ...]] = (
    time_interval,
    setting_column_missing,
    freshness_column_type,
    key_column_type,
)


def lint_output(ir: ModelIr) -> list[Diagnostic]:
    """Findings about a model's output, placed in its SQL and not yet in a file."""
    return [found for rule in OUTPUT_RULES for found in rule(ir)]


def lint_settings(model: ModelFile, ir: ModelIr, texts: Texts) -> list[Diagnostic]:
    """Findings about settings that do not fit the model's output, placed in their files."""
    if not names_columns(model):
        return []
    return [found for rule in SETTINGS_RULES for found in rule(model, ir, texts)]


def lint_model(model: ModelFile, ir: ModelIr, texts: Texts) -> list[Diagnostic]:
    """Every finding that needs one model only, placed in its file."""
    found = [_place(each, model) for each in lint_output(ir)]
    return found + lint_settings(model, ir, texts)


def lint_graph(
    models: Mapping[str, ModelIr],
    files: Mapping[str, ModelFile],
    downstream: Mapping[str, Sequence[str]],
) -> list[Diagnostic]:
    """Findings that need to know the readers; `models` and `files` by key, readers by name."""
    found: list[Diagnostic] = []
    for key, ir in models.items():
        model = files[key]
        found += select_star(model, ir, downstream.get(model.name, ()))
    return found


def _place(found: Diagnostic, model: ModelFile) -> Diagnostic:
    """A finding in the model's SQL as one in its file."""
    return replace(
        found,
        span=model.place_in_file(found.span) if found.span is not None else None,
        path=model.path,
        labels=tuple(
            Label(model.place_in_file(label.span) if label.span else None, label.message)
            for label in found.labels
        ),
        model=model.name,
    )

"""Keys: which columns find a row of a table again, in both of its states."""

from collections.abc import Sequence

from rocky.branches.data_diff.difference import NO_KEY, KeySource, RowKey
from rocky.branches.data_diff.queries import Pair
from rocky.diagnostics.suggest import suggestion
from rocky.errors import NothingSelected
from rocky.project.models import ModelFile
from rocky.project.strategies import Merge


def choose_key(
    target: str, model: ModelFile | None, asked: Sequence[str], pairs: Sequence[Pair]
) -> RowKey:
    """The key that was asked for, or the one that the model's strategy or a test of it declares.

    Raises NothingSelected when a column that was asked for is not one of both states.
    """
    known = {each.name.lower(): each for each in pairs if each.is_comparable}
    if asked:
        for name in asked:
            if name.lower() not in known:
                near = suggestion(name, [each.name for each in known.values()])
                raise NothingSelected(
                    f"`{target}` has no column `{name}` on both sides to compare rows by"
                    + (f"; {near}" if near else "")
                )
        return RowKey(tuple(known[each.lower()].name for each in asked), KeySource.ASKED)
    for columns, source in _declared(model):
        if columns and all(each.lower() in known for each in columns):
            return RowKey(tuple(known[each.lower()].name for each in columns), source)
    return NO_KEY


def _declared(model: ModelFile | None) -> list[tuple[tuple[str, ...], KeySource]]:
    if model is None:
        return []
    found = []
    # Not that of a snapshot: its table has a row for every version of a key.
    if isinstance(model.strategy, Merge):
        found.append((model.strategy.unique_key, KeySource.STRATEGY))
    for test in model.tests:
        # A test of some rows only says nothing of the others.
        if test.filter is not None:
            continue
        if test.type == "unique" and test.column is not None:
            found.append(((test.column,), KeySource.TEST))
        elif test.type == "composite":
            found.append((test.columns, KeySource.TEST))
    return found

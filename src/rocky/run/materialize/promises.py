"""Promises: what a contract says of columns whose types only Spark could tell.

A compile holds a contract against the types it knows. Where a model reads what nobody has declared,
it knows none, and the same promises are held here, before anything is written. Whether a column can
be null is not asked: of files Spark says so of every column.
"""

from collections.abc import Sequence

from rocky.analysis.contracts.findings import first_difference
from rocky.errors import ModelFailed
from rocky.language.datatypes.parts import is_complete
from rocky.language.datatypes.types import StructField
from rocky.project.configuration.strategies import HISTORY_FIELDS
from rocky.project.contracts import Contract


def hold_promises(
    model: str,
    contract: Contract | None,
    compiled: Sequence[StructField],
    given: Sequence[StructField],
) -> None:
    """Raises ModelFailed for columns that break a promise which the compile could not judge."""
    if contract is None:
        return
    promised = {each.name.lower(): each for each in contract.columns}
    own = {each.name.lower() for each in HISTORY_FIELDS}
    judged = {each.name.lower() for each in compiled if is_complete(each.type)}
    found = {each.name.lower(): each for each in given}
    broken = []
    for key, promise in promised.items():
        column = found.get(key)
        # The columns of a history come from its strategy, not from its query.
        if column is None and not compiled and not promise.optional and key not in own:
            broken.append(f"it has no column `{promise.name}`")
        if column is None or key in judged or promise.type is None:
            continue
        if first_difference(promise.type, column.type, column.name) is not None:
            broken.append(f"`{column.name}` is `{column.type}`, not `{promise.type}`")
    if contract.strict and not compiled:
        broken += [
            f"`{each.name}` is not in it" for key, each in found.items() if key not in promised
        ]
    if broken:
        raise ModelFailed(
            f"model `{model}` breaks its contract `{contract.path}`: {'; '.join(broken)};"
            " nothing was written"
        )

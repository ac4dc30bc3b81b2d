"""Branches: which files of a warehouse must stay because their tables refer to them."""

from collections.abc import Collection, Sequence

from rocky.errors import StoreUnreadable
from rocky.store.files import SUFFIX, name_of
from rocky.store.sharing import branches_of, load_shared
from rocky.store.warehouse import Warehouse


def addresses_on_branches(
    warehouses: Sequence[Warehouse], deleted: Collection[str]
) -> frozenset[str]:
    """The addresses of all files that branches refer to, also branches no record tells of.

    `deleted` are the places of branches that are no more: remains of one that cannot be read need
    nothing. What can be read may be a new branch in the making. Raises `StoreUnreadable` when it
    cannot be told.
    """
    found: set[str] = set()
    for warehouse in warehouses:
        for branch in branches_of(warehouse):
            try:
                shared = load_shared(branch)
            except StoreUnreadable:
                if branch.objects.place("") not in deleted:
                    raise
                continue
            found |= {name_of(uri).removesuffix(SUFFIX) for uri in shared}
    return frozenset(found)

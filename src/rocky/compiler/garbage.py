"""Garbage: syntax trees have cycles, so only the collector frees them.

Left to itself it runs in the middle of a model, finds everything alive, and comes back for the
trees when they have long left the processor's cache. Run once after each model, when all of the
model's tree is dead, it costs half as much and memory stays flat.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

# High enough that only a huge model is collected while it is being bound.
_YOUNG: Final = 200_000


def collect_trees() -> None:
    """Free the trees of models already bound; older objects are not looked at."""
    gc.collect(1)


@contextmanager
def trees_collected_by_hand() -> Iterator[None]:
    """While this holds, whoever binds calls `collect_trees` after each model."""
    before = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNG, 20, 20)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()

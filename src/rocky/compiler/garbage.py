"""Garbage: when the collector looks for it, and at what.

Syntax trees have cycles, so only the collector frees them; but whatever it looks at while a project
is loaded is nearly all alive. Left to itself it takes longer than what is done meanwhile.
"""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

# High enough that only a huge model is collected while it is being bound.
_YOUNG: Final = 200_000
_MUCH_MORE: Final = 1.5


def collect_trees() -> None:
    """Free the trees of models already bound; older objects are not looked at."""
    gc.collect(1)


@contextmanager
def manual_collection() -> Iterator[None]:
    """While this holds, whoever binds calls `collect_trees` after each model."""
    before = gc.get_threshold()
    ours = is_thawed()
    if not ours:
        # Nobody may thaw it again, so garbage must not be among what is frozen. Else it is thawed
        # in the end, and to look through a whole project for it now would be a waste.
        gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNG, 20, 20)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        if ours:
            gc.unfreeze()


def is_thawed() -> bool:
    """Whether nobody froze anything. What others froze is not ours to thaw; all thaws at once."""
    return not gc.get_freeze_count()


@contextmanager
def without_collection() -> Iterator[None]:
    """Leave garbage where it is for a while: there is little of it, and much that stays."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def leave_alone(before: int = 0) -> int:
    """Tell the collector that what is loaded now is here to stay; gives back how much there is.

    What goes later is freed all the same, unless it refers to itself: where there is much more than
    there was `before`, such is looked for. Blocks of memory are counted, because to count what is
    frozen each object of it is visited.
    """
    if before and sys.getallocatedblocks() > _MUCH_MORE * before:
        gc.unfreeze()
    gc.collect()
    gc.freeze()
    return sys.getallocatedblocks()

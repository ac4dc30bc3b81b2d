"""Did-you-mean: the nearest of many names.

Names are compared without case, as Spark compares them, but the candidate comes back as
it was written. A swap of two neighbouring letters counts as one slip, not two.
"""

from collections.abc import Iterable


def closest(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate a reader most likely meant by `name`, or None when none is near.

    Ties go to the name that sorts first, so the answer does not depend on their order.
    """
    wanted = name.lower()
    limit = max(1, len(wanted) // 3)
    best: tuple[int, str, str] | None = None
    for candidate in candidates:
        near = candidate.lower()
        if abs(len(near) - len(wanted)) > limit:
            continue
        distance = edit_distance(wanted, near, limit)
        if distance is None:
            continue
        found = (distance, near, candidate)
        if best is None or found < best:
            best = found
            limit = distance
    return best[2] if best else None


def suggestion(name: str, candidates: Iterable[str]) -> str | None:
    """The help line for an unknown name: "did you mean `x`?", or None."""
    near = closest(name, candidates)
    return f"did you mean `{near}`?" if near else None


def edit_distance(left: str, right: str, limit: int) -> int | None:
    """How many slips lie between two texts, or None when more than `limit`.

    A slip is one letter inserted, dropped or replaced, or two neighbours swapped.
    """
    left, right = _differing_parts(left, right)
    if abs(len(left) - len(right)) > limit:
        return None
    if not left or not right:
        return max(len(left), len(right))
    if len(set(left) - set(right)) > limit:
        return None
    before: list[int] = []
    above = list(range(len(right) + 1))
    for row, letter in enumerate(left, 1):
        current = [row] + [0] * len(right)
        for column, other in enumerate(right, 1):
            cost = above[column - 1] + (letter != other)
            cost = min(cost, above[column] + 1, current[column - 1] + 1)
            swapped = row > 1 and column > 1 and letter == right[column - 2]
            if swapped and other == left[row - 2]:
                cost = min(cost, before[column - 2] + 1)
            current[column] = cost
        # A swap reaches two rows back, so one row above the limit does not settle it.
        if min(current) > limit and min(above) > limit:
            return None
        before, above = above, current
    return above[-1] if above[-1] <= limit else None


def _differing_parts(left: str, right: str) -> tuple[str, str]:
    """The two texts without the beginning and the end they share."""
    start, shortest = 0, min(len(left), len(right))
    while start < shortest and left[start] == right[start]:
        start += 1
    end = 0
    while end < shortest - start and left[-1 - end] == right[-1 - end]:
        end += 1
    return left[start : len(left) - end], right[start : len(right) - end]

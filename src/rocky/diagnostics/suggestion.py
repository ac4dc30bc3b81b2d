"""Did-you-mean: the nearest of many names, and codes by the names people type.

Names are compared without case, as Spark compares them, but the candidate comes back as it was
written. A swap of two neighbouring letters counts as one slip, not two. `closest` is for a few
dozen candidates; the names of a whole project are asked through `NameIndex`, which prepares them
once and remembers its answers.
"""

import re
from collections.abc import Iterable
from typing import Final

from rocky.diagnostics.codes import BY_CODE, FORMER, REGISTRY, CodeInfo

# Beyond this many full comparisons a better guess is not worth the wait.
_MOST_COMPARISONS: Final = 500


class NameIndex:
    """Many names, asked many times."""

    __slots__ = ("_answers", "_by_length")

    def __init__(self, names: Iterable[str]) -> None:
        self._answers: dict[str, str | None] = {}
        self._by_length: dict[int, list[tuple[int, str, str]]] = {}
        for name in sorted(names):
            lower = name.lower()
            entry = (_letters(lower), lower, name)
            self._by_length.setdefault(len(lower), []).append(entry)

    def closest(self, name: str) -> str | None:
        """The name a reader most likely meant, or None when none is near.

        Ties go to the name that sorts first, so the answer does not depend on their order.
        """
        wanted = name.lower()
        if wanted not in self._answers:
            self._answers[wanted] = self._search(wanted)
        return self._answers[wanted]

    def suggestion(self, name: str) -> str | None:
        """The help line for an unknown name: "did you mean `x`?", or None."""
        near = self.closest(name)
        return f"did you mean `{near}`?" if near else None

    def _search(self, wanted: str) -> str | None:
        limit = max(1, len(wanted) // 3)
        best: tuple[int, str, str] | None = None
        compared = 0
        for bound, entries in enumerate(self._by_least_distance(wanted, limit)):
            if bound > limit or compared > _MOST_COMPARISONS:
                break
            for _, lower, name in entries[: _MOST_COMPARISONS - compared]:
                distance = edit_distance(wanted, lower, limit)
                if distance is None:
                    continue
                found = (distance, lower, name)
                if best is None or found < best:
                    best, limit = found, distance
            compared += len(entries)
        return best[2] if best else None

    def _by_least_distance(self, wanted: str, limit: int) -> list[list[tuple[int, str, str]]]:
        """The names grouped by how many slips there must be at least, as letters tell."""
        letters = _letters(wanted)
        groups: list[list[tuple[int, str, str]]] = [[] for _ in range(limit + 1)]
        for length, entries in self._by_length.items():
            apart = abs(length - len(wanted))
            if apart > limit:
                continue
            for entry in entries:
                # Each letter that only one of the two has costs a slip of its own.
                mine, others = letters & ~entry[0], entry[0] & ~letters
                bound = max(mine.bit_count(), others.bit_count(), apart)
                if bound <= limit:
                    groups[bound].append(entry)
        return groups


def closest(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate a reader most likely meant by `name`, or None when none is near."""
    return NameIndex(candidates).closest(name)


def suggestion(name: str, candidates: Iterable[str]) -> str | None:
    """The help line for an unknown name among a few candidates, or None."""
    return NameIndex(candidates).suggestion(name)


_SUGGESTED: Final = re.compile(
    r"(?:there is(?: an? \w+)?|did you mean) `(?P<name>[^`]+)`(?: here|\?)?"
)


def suggested_name(help_text: str | None) -> str | None:
    """The name that the help of a finding puts in the place of another; None where it does not.

    Helps that suggest one are all written "did you mean `x`?" or "there is a column `x`".
    """
    found = _SUGGESTED.fullmatch(help_text or "")
    return found["name"] if found is not None else None


def edit_distance(left: str, right: str, limit: int) -> int | None:
    """How many slips lie between two texts, or None when more than `limit`.

    A slip is one letter inserted, dropped or replaced, or two neighbours swapped.
    """
    left, right = _differing_parts(left, right)
    if abs(len(left) - len(right)) > limit:
        return None
    if not left or not right:
        return max(len(left), len(right))
    before: list[int] = []
    above = list(range(len(right) + 1))
    for row, letter in enumerate(left, 1):
        current = [row]
        least = row
        for column, other in enumerate(right, 1):
            cost = above[column - 1]
            if letter != other:
                cost = min(cost, above[column], current[-1]) + 1
                if (
                    row > 1
                    and column > 1
                    and letter == right[column - 2]
                    and other == left[row - 2]
                ):
                    cost = min(cost, before[column - 2] + 1)
            current.append(cost)
            least = min(least, cost)
        # A swap reaches two rows back, so one row above the limit does not settle it.
        if least > limit and min(above) > limit:
            return None
        before, above = above, current
    return above[-1] if above[-1] <= limit else None


def _letters(text: str) -> int:
    """The set of letters as bits; letters may share a bit, which only costs a search."""
    bits = 0
    for letter in text:
        bits |= 1 << (ord(letter) & 63)
    return bits


def _differing_parts(left: str, right: str) -> tuple[str, str]:
    """The two texts without the beginning and the end they share."""
    start, shortest = 0, min(len(left), len(right))
    while start < shortest and left[start] == right[start]:
        start += 1
    end = 0
    while end < shortest - start and left[-1 - end] == right[-1 - end]:
        end += 1
    return left[start : len(left) - end], right[start : len(right) - end]


_BY_NAME = {row.name: row for row in REGISTRY}


def code_named(text: str) -> CodeInfo | None:
    """The code a text names, by code or by name, in any case; also one that it replaces."""
    known = BY_CODE.get(text.upper()) or _BY_NAME.get(text.lower())
    return known or FORMER.get(text.lower())


def closest_code(text: str) -> str | None:
    """The code or name nearest to a text that is neither, or None when none is near."""
    return closest(text, [*_BY_NAME, *BY_CODE])


def neighbouring_codes(text: str) -> list[str]:
    """The three codes of the same letter whose numbers are nearest to a text like `E999`."""
    written = re.fullmatch(r"([A-Za-z])(\d{1,9})", text)
    if written is None:
        return []
    number = int(written[2])
    same = [code for code in BY_CODE if code[0] == written[1].upper()]
    return sorted(sorted(same, key=lambda code: abs(int(code[1:]) - number))[:3])

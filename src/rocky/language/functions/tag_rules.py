"""Tag rules: which calls end or lower the classification of what they are given.

A function that is not here keeps every tag of every argument, and so does each of these under OVER:
a window gives a row a value made of few others, or of that row alone. *Ends* means that the result
has no tag of the argument; *lowers*, that it has the next lower tag of `[classifications] order`,
or the same where the order names none below it. The page docs/concepts/classification.md has the
same rows.
"""

from collections.abc import Sequence
from typing import Any, Final, Literal, NamedTuple, Protocol

Effect = Literal["ends", "lowers"]
KEEPS, LOWERS, ENDS = range(3)
"""What is left of a tag, strongest tag first: of two ways to one column the smaller holds."""


class Argument(Protocol):
    """An argument of a call, with its value where that is a literal."""

    value: Any


class TagRule(NamedTuple):
    """What calls of some functions do to a tag, and why.

    `aggregates` rules hold over groups of rows. `unit`, where it is not None, is the argument that
    has to be the literal `year`, in any case. A rule for `alone` holds for calls of one argument.
    """

    functions: tuple[str, ...]
    effect: Effect
    reason: str
    aggregates: bool = False
    unit: int | None = None
    alone: bool = False


TAG_RULES: Final = (
    TagRule(
        ("count", "count_if", "approx_count_distinct", "regr_count"),
        "ends",
        "how many rows a group has, or how many values, is a value of none of them",
        aggregates=True,
    ),
    TagRule(
        ("avg", "mean", "try_avg", "sum", "try_sum"),
        "ends",
        "a number about a group; of a group of one it is the value itself, so see to it that groups"
        " are large",
        aggregates=True,
    ),
    TagRule(
        (
            *("stddev", "std", "stddev_pop", "stddev_samp", "variance", "var_pop", "var_samp"),
            *("skewness", "kurtosis", "corr", "covar_pop", "covar_samp"),
            *("regr_avgx", "regr_avgy", "regr_intercept", "regr_r2", "regr_slope"),
            *("regr_sxx", "regr_sxy", "regr_syy"),
        ),
        "ends",
        "a number about the shape of a group, which is a value of none of its rows",
        aggregates=True,
    ),
    TagRule(
        ("sha", "sha1", "sha2", "md5", "crc32", "hash", "xxhash64"),
        "lowers",
        "equal values stay equal, and whoever tries all e-mail addresses finds the one that was"
        " hashed: a hash without a key hides a value from the eye and from nobody else",
    ),
    TagRule(
        ("mask",),
        "lowers",
        "with one argument: letters and digits go, while length, form and every character of other"
        " scripts stay; with others it may leave all as it is",
        alone=True,
    ),
    TagRule(
        ("year",),
        "lowers",
        "a year is shared by many, and still tells an age",
    ),
    TagRule(
        ("date_trunc", "date_part", "datepart", "extract"),
        "lowers",
        "with the literal unit `year`: as `year`",
        unit=0,
    ),
    TagRule(
        ("trunc",),
        "lowers",
        "with the literal unit `year`: as `year`",
        unit=1,
    ),
)

_EFFECTS: Final = {"ends": ENDS, "lowers": LOWERS}
_BY_NAME: Final = {name: rule for rule in TAG_RULES for name in rule.functions}
_YEARS: Final = frozenset({"year", "years", "yyyy", "yy", "y", "yr", "yrs"})


def tag_effect(key: str, args: Sequence[Argument], *, windowed: bool = False) -> int:
    """What a call leaves of the tags of its arguments: KEEPS, LOWERS or ENDS."""
    rule = _BY_NAME.get(key)
    if rule is None or windowed or (rule.alone and len(args) != 1):
        return KEEPS
    if rule.unit is not None:
        unit = args[rule.unit].value if len(args) > rule.unit else None
        if not isinstance(unit, str) or unit.lower() not in _YEARS:
            return KEEPS
    return _EFFECTS[rule.effect]

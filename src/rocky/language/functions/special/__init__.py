"""Special functions: those whose result no table of argument types can say.

A rule takes the lower-case name and the bound arguments and answers with the result type and
nullability, or raises Spark's refusal. Rules never refuse because of an unknown argument.
"""

from rocky.language.functions.operand import Rule
from rocky.language.functions.special.aggregates import AGGREGATES
from rocky.language.functions.special.arrays import ARRAYS
from rocky.language.functions.special.conditionals import CONDITIONAL, PREDICATES
from rocky.language.functions.special.datetimes import DATETIMES
from rocky.language.functions.special.formats import FORMATS
from rocky.language.functions.special.higher_order import HIGHER_ORDER
from rocky.language.functions.special.maps import CONSTRUCTORS, MAPS
from rocky.language.functions.special.numbers import NUMBER_FORMATS, NUMBERS, TYPE_CASTS
from rocky.language.functions.special.statistics import PERCENTILES, RANDOMNESS, SKETCHES
from rocky.language.functions.special.strings import CONCATENATION, REFLECTION, STRINGS
from rocky.language.functions.special.windows import RANKS, WINDOWS

SPECIAL: dict[str, Rule] = {
    **AGGREGATES,
    **ARRAYS,
    **TYPE_CASTS,
    **CONCATENATION,
    **CONDITIONAL,
    **CONSTRUCTORS,
    **DATETIMES,
    **FORMATS,
    **{name: function.typing for name, function in HIGHER_ORDER.items()},
    **MAPS,
    **NUMBER_FORMATS,
    **NUMBERS,
    **PERCENTILES,
    **PREDICATES,
    **RANDOMNESS,
    **REFLECTION,
    **SKETCHES,
    **STRINGS,
    **WINDOWS,
}

SPECIAL_KINDS: dict[str, str] = {
    **dict.fromkeys((*AGGREGATES, *PERCENTILES), "aggregate"),
    **dict.fromkeys(
        ("approx_top_k", "approx_top_k_accumulate", "approx_top_k_combine", "count_min_sketch"),
        "aggregate",
    ),
    **dict.fromkeys(RANKS, "window"),
    **dict.fromkeys(("grouping", "grouping_id"), "scalar"),
}
"""Which special functions aggregate rows, and which only stand with OVER."""

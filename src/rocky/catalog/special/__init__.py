"""Special functions: those whose result no table of argument types can say.

A rule takes the lower-case name and the bound arguments and answers with the result type and
nullability, or with Spark's refusal. Rules never refuse because of an unknown argument.
"""

from collections.abc import Callable, Sequence

from rocky.catalog.operand import Operand, Refusal, Typing
from rocky.catalog.special.aggregates import AGGREGATES
from rocky.catalog.special.arrays import ARRAYS
from rocky.catalog.special.casting import CASTING
from rocky.catalog.special.concatenation import CONCATENATION
from rocky.catalog.special.conditional import CONDITIONAL
from rocky.catalog.special.constructors import CONSTRUCTORS
from rocky.catalog.special.datetimes import DATETIMES
from rocky.catalog.special.formats import FORMATS
from rocky.catalog.special.higher_order import HIGHER_ORDER
from rocky.catalog.special.maps import MAPS
from rocky.catalog.special.number_formats import NUMBER_FORMATS
from rocky.catalog.special.numbers import NUMBERS
from rocky.catalog.special.percentiles import PERCENTILES
from rocky.catalog.special.predicates import PREDICATES
from rocky.catalog.special.randomness import RANDOMNESS
from rocky.catalog.special.reflection import REFLECTION
from rocky.catalog.special.sketches import SKETCHES
from rocky.catalog.special.strings import STRINGS
from rocky.catalog.special.windows import RANKS, WINDOWS

Rule = Callable[[str, Sequence[Operand]], Typing | Refusal]

SPECIAL: dict[str, Rule] = {
    **AGGREGATES,
    **ARRAYS,
    **CASTING,
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

KINDS: dict[str, str] = {
    **dict.fromkeys((*AGGREGATES, *PERCENTILES), "aggregate"),
    **dict.fromkeys(
        ("approx_top_k", "approx_top_k_accumulate", "approx_top_k_combine", "count_min_sketch"),
        "aggregate",
    ),
    **dict.fromkeys(RANKS, "window"),
}
"""Which special functions aggregate rows, and which only stand with OVER."""

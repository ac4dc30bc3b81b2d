"""Why two runs of one query over the same inputs may differ.

Three strengths: `volatile` reads the clock or chance; `order` depends on the order rows arrive in;
`float` adds floating-point numbers, whose last digits depend on that order.
"""

from typing import Final

from rocky.language.binder.expr import Expr
from rocky.language.binder.expressions.temporal_literals import reads_clock
from rocky.language.binder.scopes import Scope
from rocky.language.datatypes.types import STRING, DataType, StringType
from rocky.language.functions.catalogue import FunctionInfo

ORDER_DEPENDENT: Final = frozenset(
    "first first_value last last_value any_value collect_list array_agg collect_set listagg "
    "string_agg mode max_by min_by histogram_numeric approx_top_k".split()
)
COLLECTORS: Final = frozenset({"collect_list", "array_agg", "collect_set"})
"""Aggregates that only gather: sorted afterwards, their result is the same each time."""
CLOCK_FUNCTIONS: Final = frozenset(
    "current_date curdate current_timestamp now localtimestamp current_time unix_timestamp".split()
)
SESSION_FUNCTIONS: Final = frozenset(
    "current_user user session_user current_database current_schema current_catalog".split()
)
FLOAT_SUMS: Final = frozenset(
    "sum avg mean try_sum try_avg stddev stddev_pop stddev_samp std variance var_pop var_samp corr "
    "covar_pop covar_samp skewness kurtosis regr_avgx regr_avgy regr_slope regr_intercept regr_r2 "
    "regr_sxx regr_sxy regr_syy".split()
)
_DATETIMES: Final = frozenset({"date", "timestamp", "timestamp_ntz"})
_DAYS: Final = frozenset({"now", "today", "tomorrow", "yesterday"})
_FLOATS: Final = frozenset({"float", "double"})
_UNIQUELY_ORDERED: Final = frozenset(
    "tinyint smallint int bigint decimal boolean date timestamp timestamp_ntz".split()
)
_DOUBLES_ALWAYS: Final = FLOAT_SUMS - {"sum", "try_sum", "avg", "mean", "try_avg"}


def has_unique_order(kind: DataType) -> bool:
    """Whether values that sort as equal are the same value: not so 0.0 and -0.0, or `a` and `A`."""
    if isinstance(kind, StringType):
        return kind == STRING
    return kind.kind in _UNIQUELY_ORDERED


def note_call(key: str, info: FunctionInfo | None, args: list[Expr], scope: Scope) -> None:
    """Record what a call does to the determinism of the query.

    Order-dependent aggregates are noted where it is known whether an ordering was written.
    """
    binding = scope.binding
    if key in CLOCK_FUNCTIONS and not (key == "unix_timestamp" and args):
        binding.mark_volatile(f"volatile: `{key}` reads the clock")
    elif key in SESSION_FUNCTIONS:
        binding.mark_volatile(f"volatile: `{key}` depends on who asks")
    elif info is not None and not info.deterministic and key not in ORDER_DEPENDENT:
        binding.mark_volatile(f"volatile: `{key}` gives a new value on every run")
    if key in FLOAT_SUMS and (key in _DOUBLES_ALWAYS or (args and args[0].type.kind in _FLOATS)):
        binding.mark_volatile(f"float: `{key}` adds floating-point numbers")


def note_order(key: str, scope: Scope) -> None:
    """Record an aggregate that takes rows as they come, with no ordering written."""
    if key in ORDER_DEPENDENT:
        scope.binding.mark_volatile(f"order: `{key}` depends on the order of rows")


def note_sample(sample: object, scope: Scope) -> None:
    """Record that rows are drawn by chance; with a seed, by how they lie in files."""
    if sample is not None:
        scope.binding.mark_volatile("order: TABLESAMPLE keeps arbitrary rows")


def note_text(text: object, kind: str, scope: Scope) -> None:
    """Record a text that is read as a date or timestamp and means another one each day."""
    if isinstance(text, str) and kind in _DATETIMES and reads_clock(text):
        scope.binding.mark_volatile(f"volatile: `{kind} '{text}'` reads the clock")


def note_word(text: str, scope: Scope) -> None:
    """Record a text such as `'today'`, which beside a date means one, without a cast to be seen."""
    if text.strip().lower() in _DAYS:
        scope.binding.mark_volatile(f"volatile: `'{text}'` may be read as a date")

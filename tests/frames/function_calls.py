"""A call of every function of `pyspark.sql.functions`, over a column of every type.

The calls are made from the signatures of the installed package: `tools/record_frames.py` asks Spark
about each, and `test_function_calls.py` asks again without it.
"""

import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any

from pyspark.sql import functions as F  # noqa: N812 - as people write PySpark
from pyspark.sql.window import Window

TABLE = (
    "i int, l bigint not null, d double, x decimal(10,2), s string, z string not null, b boolean,"
    " day date, at timestamp, bin binary, arr array<int>, texts array<string>, m map<string,int>,"
    " r struct<a:int not null,b:string>, rows array<struct<k:string,v:int>>, v variant,"
    " dt interval day to second"
)
COLUMNS = tuple("i l d x s z b day at bin arr texts m r rows v dt".split())
_OTHERS = ("i", "s")
_WINDOWED = frozenset(
    "row_number rank dense_rank percent_rank cume_dist ntile lag lead nth_value".split()
)
_NOT_CALLED = frozenset(
    "udf udtf pandas_udf arrow_udf arrow_udtf broadcast col column expr call_udf call_function"
    " UserDefinedFunction UserDefinedTableFunction AnalyzeArgument AnalyzeResult OrderingColumn"
    " PartitioningColumn SelectedColumn SkipRestOfInputTableException PandasUDFType"
    " ArrowUDFType UDFRegistration current_time"
    # Orderings and the parts of a table's layout: analysis takes them as values, and no run does.
    " asc asc_nulls_first asc_nulls_last desc desc_nulls_first desc_nulls_last"
    " years months days hours bucket".split()
)
_TEXTS = {
    "format": "yyyy-MM-dd",
    "schema": "a INT, b STRING",
    "collation": "UTF8_LCASE",
    "unit": "DAY",
    "timestamp": "at",
    "windowDuration": "10 minutes",
    "gapDuration": "5 minutes",
    "targetType": "int",
    "path": "$.a",
    "charset": "UTF-8",
    "tz": "UTC",
}
_PREDICATES = frozenset({"exists", "forall", "filter", "map_filter"})


def functions() -> list[str]:
    """Every function that is called."""
    return [
        name
        for name in F.__all__
        if name not in _NOT_CALLED and inspect.isfunction(inspect.unwrap(getattr(F, name)))
    ]


def calls(name: str) -> Iterator[tuple[str, Callable[[], Any]]]:
    """The calls of a function: a name for each, and the column that it makes."""
    parameters = list(inspect.signature(getattr(F, name)).parameters.values())
    required = [each for each in parameters if each.default is each.empty]
    optional = [each for each in parameters if each.default is not each.empty and _is_column(each)]
    seen = set()
    for more in ([], optional) if optional else ([],):
        others = _OTHERS[1:] if more else _OTHERS
        for key, chosen in _choices([*required, *more], others):
            label = key + ("+" if more else "")
            if label not in seen:
                seen.add(label)
                yield label, functools.partial(_made, name, [*required, *more], chosen)


def _choices(
    parameters: list[inspect.Parameter], others: tuple[str, ...]
) -> Iterator[tuple[str, list[str]]]:
    slots = sum((2 if _is_rest(each) else 1) for each in parameters if _is_column(each))
    if not slots:
        yield "-", []
        return
    for first in COLUMNS:
        for other in (first, *others) if slots > 1 else (first,):
            yield (f"{first}.{other}" if slots > 1 else first), [first, *[other] * (slots - 1)]


def _made(name: str, parameters: list[inspect.Parameter], chosen: list[str]) -> Any:
    names = iter(chosen)
    given: list[Any] = []
    named: dict[str, Any] = {}
    for each in parameters:
        if _is_rest(each):
            given += [F.col(next(names)), F.col(next(names))] if _is_column(each) else ["a"]
            continue
        value = F.col(next(names)) if _is_column(each) else _value(name, each)
        if each.default is each.empty and each.kind is not each.KEYWORD_ONLY:
            given.append(value)
        else:
            named[each.name] = value
    made = getattr(F, name)(*given, **named)
    return made.over(Window.orderBy("l")) if name in _WINDOWED else made


def _is_rest(each: inspect.Parameter) -> bool:
    return each.kind is each.VAR_POSITIONAL


def _is_column(each: inspect.Parameter) -> bool:
    written = str(each.annotation)
    if "Callable" in written or each.name in _TEXTS:
        return False
    return (
        "ColumnOrName" in written
        or written.endswith(("Column'>", "Column"))
        or ("Column" in written and not any(kind in written for kind in ("int", "float", "bool")))
    )


def _value(name: str, each: inspect.Parameter) -> Any:
    written = str(each.annotation)
    if "Callable" in written:
        return _code(name, written)
    if each.name in _TEXTS:
        return _TEXTS[each.name]
    if "int" in written:
        return 2
    if "float" in written:
        return 0.5
    if "bool" in written:
        return True
    return "a" if "str" in written else 1


def _code(name: str, written: str) -> Callable[..., Any]:
    arity = written.split("]", maxsplit=1)[0].count("Column")
    if name in _PREDICATES:
        return (lambda x: x.isNotNull()) if arity == 1 else (lambda x, y: y.isNotNull())
    return {1: lambda x: x, 2: lambda x, y: x, 3: lambda x, y, z: z}[arity]

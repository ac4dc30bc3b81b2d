"""Rows that code makes: functions over partitions, groups and tables, texts parsed, statistics."""

from collections.abc import Callable
from typing import Any

from blake3 import blake3

from rocky.frames.code_digest import code_digest
from rocky.frames.expressions import declared_code, expression
from rocky.frames.fragments import Fragment, joined, sql
from rocky.frames.layers import Layer, LayerColumn, unique_names, written
from rocky.frames.literals import NoSql, type_of
from rocky.frames.lowering import Lowering
from rocky.frames.relations.missing_values import check_names
from rocky.frames.scope import over
from rocky.frames.sites import Site
from rocky.language.datatypes import types as t
from rocky.language.datatypes.types import StructField

Lower = Callable[[Any], Layer]


def mapped(message: Any, lowering: Lowering, lower: Lower, site: Site | None) -> Layer:
    """`mapInPandas`, `applyInPandas` and their relatives: any column may be in any other."""
    inputs = [lower(message.input)]
    if "other" in message.DESCRIPTOR.fields_by_name:
        inputs.append(lower(message.other))
    code = message.func.python_udf
    schema = struct_of(type_of(code.output_type))
    return made_rows(
        message.func.function_name or "code",
        schema.fields,
        code_digest(code.command),
        lowering,
        site,
        inputs,
    )


def table_code(message: Any, lowering: Lowering, lower: Lower, site: Site | None) -> Layer:
    """A table function of Python: values, and frames of which any column may be in any other."""
    code = message.python_udtf
    if not code.HasField("return_type"):
        raise NoSql("a table function of Python whose columns its `analyze` works out")
    inputs: list[Layer] = []
    given = []
    scope = over(lowering)
    for each in message.arguments:
        value = each
        if each.WhichOneof("expr_type") == "named_argument_expression":
            value = each.named_argument_expression.value
        if value.WhichOneof("expr_type") == "subquery_expression":
            inputs.append(lower_subquery(value.subquery_expression.plan_id, lowering))
        else:
            given.append(expression(value, scope))
    return made_rows(
        message.function_name,
        struct_of(type_of(code.return_type)).fields,
        code_digest(code.command),
        lowering,
        site,
        inputs,
        given,
    )


def lower_subquery(plan_id: int, lowering: Lowering) -> Layer:
    """The layer of a relation that an expression refers to."""
    message = lowering.references.get(plan_id)
    if message is None or lowering.lower is None:
        raise NoSql("a relation that the plan does not hold")
    layer = lowering.lower(message, lowering)
    lowering.subqueries.append(layer)
    return layer


def registered(name: str, message: Any, lowering: Lowering) -> None:
    """Make a function known under the name it was registered with."""
    try:
        if message.DESCRIPTOR.name == "CommonInlineUserDefinedTableFunction":
            code = message.python_udtf
            if not code.HasField("return_type"):
                lowering.blind.add(name.lower())
                return
            fields = struct_of(type_of(code.return_type)).fields
            lowering.function(name, None, code_digest(code.command), columns=fields)
        else:
            declared_code(message, lowering, name)
    except NoSql:
        lowering.blind.add(name.lower())


def frequent_items(message: Any, lowering: Lowering, lower: Lower, site: Site | None) -> Layer:
    """`freqItems`: one array a column."""
    below = lower(message.input)
    if not below.known:
        return lowering.unknown_rows("statistics of a frame of unknown columns", site, below)
    check_names(message.cols, below, lowering, site)
    chosen = [below.columns[at] for name in message.cols for at in below.named(name)]
    fields = [
        StructField(f"{each.name}_freqItems", t.array(each.type, each.nullable), False)
        for each in chosen
    ]
    return made_rows("frequent_items", tuple(fields), b"frequent", lowering, site, [below])


def parse(message: Any, lowering: Lowering, lower: Lower, site: Site | None) -> Layer:
    """`spark.read.json(frame)`: texts read as rows."""
    below = lower(message.input)
    if not message.HasField("schema"):
        return lowering.unknown_rows("texts parsed without a schema", site, below)
    schema = struct_of(type_of(message.schema))
    fields = tuple(StructField(each.name, each.type, True) for each in schema.fields)
    return made_rows("parse", fields, b"parse", lowering, site, [below])


def statistics(message: Any, lowering: Lowering, lower: Lower, site: Site | None) -> Layer:
    """`describe` and `summary`: texts about the columns that have an order."""
    below = lower(message.input)
    if not below.known:
        return lowering.unknown_rows("statistics of a frame of unknown columns", site, below)
    wanted = {name.lower() for name in getattr(message, "cols", ())}
    fields = [StructField("summary", t.string(), True)] + [
        StructField(each.name, t.string(), True)
        for each in below.visible
        if (t.is_numeric(each.type) or isinstance(each.type, t.StringType))
        and (not wanted or each.key in wanted)
    ]
    return made_rows("statistics", tuple(fields), b"statistics", lowering, site, [below])


def struct_of(kind: Any) -> t.StructType:
    """The columns that a declared type stands for."""
    if isinstance(kind, t.StructType):
        return kind
    return t.struct((StructField("value", kind, True),))


def made_rows(
    name: str,
    fields: tuple[StructField, ...],
    digest: bytes,
    lowering: Lowering,
    site: Site | None,
    inputs: list[Layer] | None = None,
    given: list[Fragment] | None = None,
) -> Layer:
    """Rows that code makes, from every column of its inputs."""
    own = unique_names([(each.name, False) for each in fields])
    columns = tuple(
        StructField(sql_name, each.type, each.nullable)
        for sql_name, each in zip(own, fields, strict=True)
    )
    own_digest = blake3(digest).digest() if digest else b""
    call = lowering.function(name, None, own_digest, columns=columns)
    layers = inputs or []
    values = joined(", ", given or [])
    if layers:
        tables = ", ".join(
            f"{layer.name} AS {alias}" for layer, alias in over(lowering, *layers).inputs
        )
        arguments = ", ".join(
            f"{alias}.{written(each.sql)}"
            for layer, alias in over(lowering, *layers).inputs
            for each in layer.columns
        )
        listed = ", ".join(f"made.{written(each.name)}" for each in columns)
        between = ", " if given and arguments else ""
        body = sql(
            f"SELECT {listed} FROM {tables}, LATERAL {call}({arguments}{between}", values,
            ") AS made", site=site,
        )  # fmt: skip
    else:
        body = sql(f"SELECT * FROM {call}(", values, ")", site=site)
    return lowering.layer(
        body,
        tuple(
            LayerColumn(each.name, sql_name, each)
            for sql_name, each in zip(own, fields, strict=True)
        ),
        tuple(layers),
    )

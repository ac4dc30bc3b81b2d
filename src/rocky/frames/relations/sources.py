"""Where frames begin: tables, SQL, files, rows of the program, and code that makes rows."""

import json
import re
from collections.abc import Callable
from typing import Any, Final

import pyarrow as pa
from blake3 import blake3
from pyspark.sql.pandas.types import from_arrow_schema

from rocky.frames.code_digest import code_digest
from rocky.frames.expressions import expression
from rocky.frames.fragments import Fragment, joined, sql
from rocky.frames.layers import Layer, LayerColumn, split_attribute, unique_names, written
from rocky.frames.literals import NoSql, json_type, literal_sql, parsed_type, type_of
from rocky.frames.lowering import Lowering
from rocky.frames.scope import over
from rocky.frames.sites import Site
from rocky.language.datatypes import types as t
from rocky.language.datatypes.types import StructField

Lower = Callable[[Any], Layer]
_OURS: Final = re.compile(r"frame_\d+(_2)?", re.IGNORECASE)
_MARKER: Final = re.compile(r":([A-Za-z_]\w*)|\?")


def read(message: Any, lowering: Lowering, lower: Lower, site: Site | None) -> Layer:
    """`spark.table` and `spark.read`."""
    if message.is_streaming:
        raise NoSql("streams: `readStream`")
    if message.HasField("named_table"):
        return named_table(message.named_table.unparsed_identifier, lowering, site)
    source = message.data_source
    if not source.schema:
        return lowering.unknown_rows(
            "a file without a schema: Spark reads it to know; pass `.schema(...)`", site
        )
    schema = _struct(parsed_type_or_json(source.schema))
    fields = tuple(StructField(each.name, each.type, True) for each in schema.fields)
    said = f"{source.format}\0{list(source.paths)}\0{dict(source.options)}"
    return _made_rows(f"read_{source.format or 'files'}", fields, said.encode(), lowering, site)


def named_table(name: str, lowering: Lowering, site: Site | None) -> Layer:
    """A table of the project, or a frame under the name it was given."""
    view = lowering.views.get(name.lower())
    if view is not None:
        return view
    if _OURS.fullmatch(name):
        raise NoSql(f"a table of the name `{name}`, which the SQL of plans uses")
    parts = split_attribute(name)
    body = sql("SELECT * FROM " + ".".join(map(written, parts)), site=site)
    bound = lowering.bind(body.text)
    path = tuple(each.lower() for each in parts)
    columns = tuple(
        LayerColumn(each.name or "", each.name or "", each.type, each.nullable, qualifier=path)
        for each in bound.columns
    )
    if bound.diagnostics:
        return lowering.layer(body, columns, (), known=bound.known)
    return Layer(".".join(map(written, parts)), columns, bound.known)


def parsed_type_or_json(text: str) -> Any:
    return json_type(json.loads(text)) if text.lstrip().startswith("{") else parsed_type(text)


def local(message: Any, lowering: Lowering, lower: Lower, site: Site | None) -> Layer:
    """`createDataFrame`: the schema of the rows, or what was declared of them."""
    data = pa.ipc.open_stream(message.data).read_all() if message.data else None
    if message.schema:
        schema = _struct(parsed_type_or_json(message.schema))
    elif data is not None:
        schema = _struct(json_type(from_arrow_schema(data.schema).jsonValue()))
    else:
        raise NoSql("rows without a schema")
    return _made_rows("local_rows", schema.fields, bytes(message.data), lowering, site)


def span(message: Any, lowering: Lowering, lower: Lower, site: Site | None) -> Layer:
    """`spark.range`."""
    body = f"SELECT id FROM range({message.start}, {message.end}, {message.step})"
    return lowering.query(sql(body, site=site), ())


def query(message: Any, lowering: Lowering, lower: Lower, site: Site | None) -> Layer:
    """`spark.sql`, its arguments put in as literals."""
    named = {
        key: expression(value, over(lowering)) for key, value in message.named_arguments.items()
    }
    named |= {key: sql(literal_sql(value)) for key, value in message.args.items()}
    placed = [expression(each, over(lowering)) for each in message.pos_arguments]
    placed += [sql(literal_sql(each)) for each in message.pos_args]
    text = message.query.strip().rstrip(";")
    body = _with_arguments(text, named, placed, site)
    if lowering.views:
        mentioned = set(re.findall(r"\w+", text.lower()))
        views = {name: each for name, each in lowering.views.items() if name in mentioned}
        common = ", ".join(
            f"{written(name)} AS (SELECT {_visible(each)} FROM {each.name})"
            for name, each in views.items()
        )
        if views:
            body = sql(f"WITH {common} SELECT * FROM (", body, "\n)", site=site)
        return lowering.query(body, tuple(views.values()))
    return lowering.query(body, ())


def _visible(layer: Layer) -> str:
    return ", ".join(
        written(each.sql)
        if each.sql == each.name
        else f"{written(each.sql)} AS {written(each.name)}"
        for each in layer.visible
    )


def _with_arguments(
    text: str, named: dict[str, Fragment], placed: list[Fragment], site: Site | None
) -> Fragment:
    """The text with values in place of its markers; quotes and comments are refused beside them."""
    if not named and not placed:
        return sql(text, site=site)
    if "'" in text or '"' in text or "--" in text or "/*" in text:
        raise NoSql("SQL with arguments that also has quotes or comments")
    parts: list[str | Fragment] = []
    at, given = 0, iter(placed)
    for found in _MARKER.finditer(text):
        value = named.get(found[1]) if found[1] else next(given, None)
        if value is None:
            continue
        parts += [text[at : found.start()], value]
        at = found.end()
    return sql(*parts, text[at:], site=site)


def table_function(message: Any, lowering: Lowering, lower: Lower, site: Site | None) -> Layer:
    """`spark.tvf`."""
    given = joined(", ", [expression(each, over(lowering)) for each in message.arguments])
    return lowering.query(sql(f"SELECT * FROM {message.function_name}(", given, ")", site=site), ())


def mapped(message: Any, lowering: Lowering, lower: Lower, site: Site | None) -> Layer:
    """`mapInPandas`, `applyInPandas` and their relatives: any column may be in any other."""
    inputs = [lower(message.input)]
    if "other" in message.DESCRIPTOR.fields_by_name:
        inputs.append(lower(message.other))
    code = message.func.python_udf
    schema = _struct(type_of(code.output_type))
    return _made_rows(
        message.func.function_name or "code",
        schema.fields,
        code_digest(code.command),
        lowering,
        site,
        inputs,
    )


def parse(message: Any, lowering: Lowering, lower: Lower, site: Site | None) -> Layer:
    """`spark.read.json(frame)`: texts read as rows."""
    below = lower(message.input)
    if not message.HasField("schema"):
        return lowering.unknown_rows("texts parsed without a schema", site, below)
    schema = _struct(type_of(message.schema))
    fields = tuple(StructField(each.name, each.type, True) for each in schema.fields)
    return _made_rows("parse", fields, b"parse", lowering, site, [below])


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
    return _made_rows("statistics", tuple(fields), b"statistics", lowering, site, [below])


def _struct(kind: Any) -> t.StructType:
    if isinstance(kind, t.StructType):
        return kind
    return t.struct((StructField("value", kind, True),))


def _made_rows(
    name: str,
    fields: tuple[StructField, ...],
    digest: bytes,
    lowering: Lowering,
    site: Site | None,
    inputs: list[Layer] | None = None,
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
        body = sql(f"SELECT {listed} FROM {tables}, LATERAL {call}({arguments}) AS made", site=site)
    else:
        body = sql(f"SELECT * FROM {call}()", site=site)
    return lowering.layer(
        body,
        tuple(
            LayerColumn(each.name, sql_name, each.type, each.nullable)
            for sql_name, each in zip(own, fields, strict=True)
        ),
        tuple(layers),
        known=all(each.known for each in layers),
    )

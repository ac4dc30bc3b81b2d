"""Where frames begin: tables, SQL, files, rows of the program, and code that makes rows."""

import json
import re
from collections.abc import Callable
from typing import Any, Final

import pyarrow as pa
from pyspark.sql.pandas.types import from_arrow_schema

from rocky.frames.expressions import expression
from rocky.frames.fragments import Fragment, joined, sql
from rocky.frames.layers import Layer, LayerColumn, split_attribute, written
from rocky.frames.literals import NoSql, json_type, literal_sql, parsed_type
from rocky.frames.lowering import Lowering
from rocky.frames.relations.code_rows import made_rows, struct_of
from rocky.frames.scope import over
from rocky.frames.sites import Site
from rocky.language.datatypes.types import StructField

Lower = Callable[[Any], Layer]
_OURS: Final = re.compile(r"frame_\d+(_2)?", re.IGNORECASE)
_MARKER: Final = re.compile(
    r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`|--[^\n]*|/\*.*?\*/|::|:([A-Za-z_]\w*)|\?""",
    re.DOTALL,
)
"""Markers of arguments, and what only looks like one: texts, quoted names, comments."""
_MOST_PARTS: Final = 3
"""Catalogue, schema and table."""
_UNKNOWN_FUNCTIONS: Final = frozenset({"python_worker_logs"})


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
    schema = struct_of(parsed_type_or_json(source.schema))
    fields = tuple(StructField(each.name, each.type, True) for each in schema.fields)
    said = f"{source.format}\0{list(source.paths)}\0{dict(source.options)}"
    return made_rows(f"read_{source.format or 'files'}", fields, said.encode(), lowering, site)


def named_table(name: str, lowering: Lowering, site: Site | None) -> Layer:
    """A table of the project, or a frame under the name it was given."""
    view = lowering.views.get(name.lower())
    if view is not None:
        # Each read is a frame of its own, of the same columns.
        columns = tuple(each._replace(origin=(0, at)) for at, each in enumerate(view.columns))
        return Layer(view.name, columns, view.known, (view,))
    if _OURS.fullmatch(name):
        raise NoSql(f"a table of the name `{name}`, which the SQL of plans uses")
    parts = split_attribute(name)
    path = tuple(each.lower() for each in parts)
    table = lowering.tables.find(path) if len(parts) <= _MOST_PARTS else None
    if table is not None and table.known:
        columns = tuple(
            LayerColumn(each.name, each.name, each, qualifier=path) for each in table.fields
        )
        return Layer(".".join(map(written, parts)), columns)
    body = sql("SELECT * FROM " + ".".join(map(written, parts)), site=site)
    bound = lowering.bind(body.text)
    columns = tuple(
        LayerColumn(
            each.name or "",
            each.name or "",
            StructField("", each.type, each.nullable),
            qualifier=path,
        )
        for each in bound.columns
    )
    if bound.diagnostics:
        return lowering.layer(body, columns, (), known=bound.known, wrong=bound.has_errors)
    return Layer(".".join(map(written, parts)), columns, bound.known)


def parsed_type_or_json(text: str) -> Any:
    return json_type(json.loads(text)) if text.lstrip().startswith("{") else parsed_type(text)


def local(message: Any, lowering: Lowering, lower: Lower, site: Site | None) -> Layer:
    """`createDataFrame`: the schema of the rows, or what was declared of them."""
    data = pa.ipc.open_stream(message.data).read_all() if message.data else None
    if message.schema:
        schema = struct_of(parsed_type_or_json(message.schema))
    elif data is not None:
        schema = struct_of(json_type(from_arrow_schema(data.schema).jsonValue()))
    else:
        raise NoSql("rows without a schema")
    return made_rows("local_rows", schema.fields, bytes(message.data), lowering, site)


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
    if lowering.blind & set(re.findall(r"\w+(?=\s*\()", text.lower())):
        raise NoSql("a function whose result its own code works out")
    if lowering.views:
        for name in [each for each in lowering.views if each.startswith("global_temp.")]:
            plain = name.replace(".", "__")
            lowering.views[plain] = lowering.views[name]
            text = re.sub(rf"\b{re.escape(name)}\b", plain, text, flags=re.IGNORECASE)
        body = _with_arguments(text, named, placed, site)
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
    if not layer.known:
        return "*"
    return ", ".join(
        written(each.sql)
        if each.sql == each.name
        else f"{written(each.sql)} AS {written(each.name)}"
        for each in layer.visible
    )


def _with_arguments(
    text: str, named: dict[str, Fragment], placed: list[Fragment], site: Site | None
) -> Fragment:
    """The text with values in place of its markers."""
    if not named and not placed:
        return sql(text, site=site)
    parts: list[str | Fragment] = []
    at, given = 0, iter(placed)
    for found in _MARKER.finditer(text):
        if not found[1] and found[0] != "?":
            continue
        value = named.get(found[1]) if found[1] else next(given, None)
        if value is None:
            continue
        parts += [text[at : found.start()], value]
        at = found.end()
    return sql(*parts, text[at:], site=site)


def table_function(message: Any, lowering: Lowering, lower: Lower, site: Site | None) -> Layer:
    """`spark.tvf`."""
    if message.function_name.lower() in _UNKNOWN_FUNCTIONS:
        raise NoSql(f"the table function `{message.function_name}`")
    given = joined(", ", [expression(each, over(lowering)) for each in message.arguments])
    return lowering.query(sql(f"SELECT * FROM {message.function_name}(", given, ")", site=site), ())

"""Definition: where the thing that a name stands for was made or declared."""

from rocky.analysis.lineage import ColumnRef
from rocky.diagnostics.diagnostic import Span
from rocky.ide.python_uses import column_uses, output_root
from rocky.ide.symbols import Symbol, first_word, symbol_at
from rocky.ide.view import OpenFile, Place, View
from rocky.language.ir import LINEAGE_KINDS
from rocky.project import ModelFile, SeedTable, SourceTable, setting_place
from rocky.project.toml.variables import Keys


def definition(file: OpenFile, offset: int) -> tuple[Place, ...]:
    """Where what stands at an offset is defined; nothing for what Spark itself has."""
    found = symbol_at(file, offset)
    return definition_of(file.view, found.symbol) if found is not None else ()


def definition_of(view: View, symbol: Symbol) -> tuple[Place, ...]:
    """Where a symbol is defined."""
    match symbol.kind:
        case "local" | "parameter" | "field":
            return (symbol.place,) if symbol.place is not None else ()
        case "column":
            return column_places(view, symbol.name, symbol.column)
        case "table":
            return _table(view, symbol.name)
        case "function":
            function = view.project.functions.get(symbol.name)
            place = function.signature.place if function is not None else None
            return (Place(function.signature.path, place),) if function and place else ()
        case "macro":
            macro = view.project.macros.get(symbol.name)
            return (Place(macro.path, macro.declaration.head),) if macro is not None else ()


def _table(view: View, name: str) -> tuple[Place, ...]:
    project = view.project
    model = project.models.get(name)
    if model is not None:
        word = None if model.is_python else first_word(view.open(model.path))
        return (Place(model.path, word or Span(0, 0)),)
    source = project.sources.get(name)
    if source is not None and source.place is not None:
        return (Place(source.file, _unquoted(view.text_of(source.file), source.place)),)
    seed = project.seeds.get(name)
    return (Place(seed.path, Span(0, 0)),) if seed is not None else ()


def column_places(view: View, table: str, column: str) -> tuple[Place, ...]:
    """Where a column gets its name; of one that a star brings, where it is named above."""
    seen: set[tuple[str, str]] = set()
    while (table, column) not in seen:
        seen.add((table, column))
        own = _column(view, table, column)
        if own is not None:
            return (own,)
        above = _brought(view, table, column)
        if above is None:
            break
        table, column = above
    return ()


def _column(view: View, table: str, column: str) -> Place | None:
    project = view.project
    model = project.models.get(table)
    if model is not None:
        return _model_column(view, model, column)
    declared: SourceTable | SeedTable | None = project.sources.get(table) or project.seeds.get(
        table
    )
    if declared is None:
        return None
    for field, place in zip(declared.columns, declared.column_places, strict=False):
        if field.name.lower() == column and place is not None:
            return Place(declared.file, _unquoted(view.text_of(declared.file), place))
    return None


def _unquoted(text: str, span: Span) -> Span:
    quoted = text[span.start : span.start + 1] in ("'", '"')
    return Span(span.start + 1, span.end - 1) if quoted else span


def _model_column(view: View, model: ModelFile, column: str) -> Place | None:
    ir = view.compilation.models.get(model.key)
    made = ir.column(column) if ir is not None else None
    if model.is_python:
        named = _named_in_code(view, model, column) or _declared_output(view, model, column)
        if named is not None:
            return named
    if made is None or made.span is None:
        return None
    return Place(model.path, _unquoted(model.text, model.place_in_file(made.span)))


def _named_in_code(view: View, model: ModelFile, column: str) -> Place | None:
    """Where the code of a Python model gives a column its name."""
    frames = view.frames(model.path)
    root = output_root(view, frames, column) if frames is not None else None
    for use in column_uses(view, frames) if frames is not None else ():
        if use.defines and use.root == root:
            return Place(model.path, use.span)
    return None


def _declared_output(view: View, model: ModelFile, column: str) -> Place | None:
    for index, each in enumerate(model.settings.output):
        if isinstance(each, dict) and str(each.get("name", "")).lower() == column:
            keys: Keys = ("output", index, "name")
            path, span = setting_place(model, view.project.texts, keys)
            if span is not None:
                return Place(path, _unquoted(view.text_of(path), span))
    return None


def _brought(view: View, table: str, column: str) -> tuple[str, str] | None:
    """The column above that a star has brought as it is."""
    ways = [
        hop
        for hop in view.lineage.hops_into(ColumnRef(table, column))
        if hop.kind == LINEAGE_KINDS[0]
    ]
    if len(ways) != 1:
        return None
    source = ways[0].source
    return source.table.lower(), source.column.lower()

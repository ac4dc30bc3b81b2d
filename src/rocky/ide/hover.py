"""Hover: what there is to say of the thing at an offset."""

from collections.abc import Iterable
from dataclasses import dataclass

from rocky.analysis.lineage import ColumnRef
from rocky.diagnostics.diagnostic import Span
from rocky.ide.functions import FunctionCard, find_card, macro_card
from rocky.ide.python_hover import frame_at, python_name
from rocky.ide.symbols import Found, Symbol, symbol_at
from rocky.ide.toml_keys import find_key, keys_at, root_record, toml_part
from rocky.ide.view import OpenFile, PlacedName, View
from rocky.language.datatypes.types import DataType
from rocky.project.descriptions import UNDESCRIBED, Described, describe_declared, describe_model

_MOST_COLUMNS = 40
_MOST_ORIGINS = 8


@dataclass(frozen=True, slots=True)
class HoverColumn:
    """A column of a table that is shown."""

    name: str
    type: str
    nullable: bool
    description: str | None = None


@dataclass(frozen=True, slots=True)
class Hover:
    """What is said of a name: a line of code, facts with their labels, a text, columns."""

    span: Span
    code: str
    kind: str
    facts: tuple[tuple[str, str], ...] = ()
    text: str | None = None
    columns: tuple[HoverColumn, ...] = ()
    more_columns: int = 0
    is_markdown: bool = False

    @property
    def markdown(self) -> str:
        """All of it as Markdown."""
        parts = [f"```sql\n{self.code}\n```"]
        if self.text:
            parts.append(self.text if self.is_markdown else _plain(self.text))
        parts += [f"*{label}*: {value}" for label, value in self.facts]
        if self.columns:
            parts.append("\n".join(f"- {_shown(each)}" for each in self.columns))
        if self.more_columns:
            parts.append(f"and {self.more_columns} more")
        return "\n\n".join(parts)


def hover(file: OpenFile, offset: int) -> Hover | None:
    """What is known of the name at an offset; None where there is nothing to say."""
    found = symbol_at(file, offset)
    python = file.kind == "python"
    name = python_name(file, offset) if python else file.name_at(offset)
    if found is not None:
        said = _of_symbol(file, found, name)
        if said is not None:
            return said
    if name is not None:
        return _of_use(name)
    return _of_frame(file, offset) if python else _of_key(file, offset)


def _of_frame(file: OpenFile, offset: int) -> Hover | None:
    """The columns of what a call of Python gives, or a variable has."""
    found = frame_at(file, offset)
    if found is None:
        return None
    span, words, known = found
    columns = [HoverColumn(each.name, str(each.type), each.nullable) for each in known]
    return _with_columns(Hover(span, words, "frame"), columns)


def _of_symbol(file: OpenFile, found: Found, name: PlacedName | None) -> Hover | None:
    view, (symbol, span) = file.view, found
    match symbol.kind:
        case "table":
            return _of_table(view, symbol.name, span)
        case "column":
            return _of_column(view, symbol, span, name)
        case "function":
            return _of_function(find_card(view, symbol.name), span)
        case "macro":
            return _of_function(macro_card(view, symbol.name), span)
        case "parameter":
            return Hover(span, f"@{symbol.name}", "parameter")
        case _:
            return None


def _of_function(card: FunctionCard | None, span: Span) -> Hover | None:
    if card is None:
        return None
    code = "\n".join(each.text for each in card.signatures) or f"{card.name}(...)"
    facts = (("owner", card.owner),) if card.owner else ()
    return Hover(span, code, card.kind, (("kind", card.kind), *facts), card.description)


def _of_use(name: PlacedName) -> Hover:
    use = name.use
    if use.members and use.type is None:
        shown = [HoverColumn(each.name, str(each.type), each.nullable) for each in use.members]
        kind = {"cte": "CTE", "alias": "relation", "star": "columns"}.get(use.role, use.role)
        return _with_columns(Hover(name.span, f"{use.name}", kind), shown)
    facts = [("from", _origin_words(use.origins))] if use.origins else []
    code = _typed(use.name, use.type, nullable=use.nullable)
    return Hover(name.span, code, use.role, tuple(facts))


def _of_column(view: View, symbol: Symbol, span: Span, name: PlacedName | None) -> Hover | None:
    known = column_of(view, symbol.name, symbol.column)
    use = name.use if name is not None and name.span == span else None
    if known is None and use is None:
        return None
    shown, kind, nullable = known or (use.name, use.type, use.nullable)  # type: ignore[union-attr]  # one is there
    if use is not None and use.type is not None:
        # Where it stands it may be null although its table's is not: after an outer join.
        kind, nullable = use.type, use.nullable
    ref = ColumnRef(symbol.name, symbol.column)
    facts = [("of", f"`{_declared_name(view, symbol.name)}`")]
    tags = view.classifications.of(symbol.name, symbol.column)
    if tags:
        facts.append(("classification", ", ".join(sorted({f"`{each.tag}`" for each in tags}))))
    origins = _ends(view, ref)
    if origins:
        facts.append(("from", _origin_words(origins)))
    described = described_table(view, symbol.name).columns.get(symbol.column)
    code = _typed(shown, kind, nullable=nullable)
    return Hover(span, code, "column", tuple(facts), described)


def _ends(view: View, ref: ColumnRef) -> list[tuple[str, str, str]]:
    """Where the values of a column come from in the end, each with the kind of the way."""
    reached = view.lineage.trace(ref, "upstream").reached
    return [
        (end.table, end.column, kind)
        for end, kind in reached.items()
        if not view.lineage.hops_into(end)
    ]


def _origin_words(origins: Iterable[tuple[str, str, str]]) -> str:
    words = [
        f"`{table}.{column}`" + (f" ({kind})" if kind != "direct" else "")
        for table, column, kind in origins
    ]
    more = f" and {len(words) - _MOST_ORIGINS} more" if len(words) > _MOST_ORIGINS else ""
    return ", ".join(words[:_MOST_ORIGINS]) + more


def column_of(view: View, table: str, column: str) -> tuple[str, DataType, bool] | None:
    """A column of a model, a source or a seed, as it is declared or was worked out."""
    if table in view.compilation.models:
        made = view.compilation.models[table].column(column)
        return (made.name, made.type, made.nullable) if made is not None else None
    declared = view.project.sources.get(table) or view.project.seeds.get(table)
    for field in declared.columns if declared is not None else ():
        if field.name.lower() == column:
            return field.name, field.type, field.nullable
    return None


def columns_of(view: View, table: str) -> list[tuple[str, DataType, bool]]:
    """The columns of a table by its lower-case name."""
    if table in view.compilation.models:
        made = view.compilation.models[table].columns
        return [(each.name, each.type, each.nullable) for each in made]
    declared = view.project.sources.get(table) or view.project.seeds.get(table)
    found = declared.columns if declared is not None else ()
    return [(each.name, each.type, each.nullable) for each in found]


def _of_table(view: View, table: str, span: Span) -> Hover | None:
    project = view.project
    model, source = project.models.get(table), project.sources.get(table)
    declared = model or source or project.seeds.get(table)
    if declared is None:
        return None
    kind = "model" if model is not None else "source" if source is not None else "seed"
    said = described_table(view, table)
    facts = [("owner", declared.owner)] if declared.owner else []
    if model is not None:
        facts.append(("table", f"`{model.target.full_name}`"))
        facts.append(("strategy", f"`{model.strategy.type}`"))
    facts.append(("read by", f"{len(view.downstream(declared.name))} models"))
    columns = [
        HoverColumn(name, str(kind), nullable, said.columns.get(name.lower()))
        for name, kind, nullable in columns_of(view, table)
    ]
    made = Hover(span, f"{kind} {declared.name}", kind, tuple(facts), said.table)
    return _with_columns(made, columns)


def described_table(view: View, table: str) -> Described:
    """What is said of a table and of its columns."""
    project = view.project
    if table in project.models:
        return describe_model(project.models[table], project.contracts.get(table))
    declared = project.sources.get(table) or project.seeds.get(table)
    return describe_declared(declared) if declared is not None else UNDESCRIBED


def _of_key(file: OpenFile, offset: int) -> Hover | None:
    part = toml_part(file)
    if part is None or not part.start <= offset <= part.start + len(part.text):
        return None
    found = keys_at(part.text, offset - part.start)
    if found is None:
        return None
    keys, place = found
    card = find_key(root_record(file), keys, part.text)
    if card is None:
        return None
    span = Span(place.key.start + part.start, place.key.end + part.start)
    if card.refused is not None:
        return Hover(span, card.name, "key", (("not supported", card.refused),))
    facts = (("value", card.value), ("default", card.default))
    return Hover(span, card.name, "key", facts, card.about, is_markdown=True)


def _with_columns(said: Hover, columns: list[HoverColumn]) -> Hover:
    return Hover(
        said.span,
        said.code,
        said.kind,
        said.facts,
        said.text,
        tuple(columns[:_MOST_COLUMNS]),
        max(len(columns) - _MOST_COLUMNS, 0),
    )


def _declared_name(view: View, table: str) -> str:
    project = view.project
    found = project.models.get(table) or project.sources.get(table) or project.seeds.get(table)
    return found.name if found is not None else table


def _typed(name: str, kind: DataType | None, *, nullable: bool) -> str:
    return f"{name} {kind}{'' if nullable else ' NOT NULL'}"


def _shown(column: HoverColumn) -> str:
    said = f" — {_plain(column.description)}" if column.description else ""
    return f"`{column.name}` {column.type}{'' if column.nullable else ' NOT NULL'}{said}"


def _plain(text: str) -> str:
    """A text of the project as Markdown that shows it and nothing else."""
    return "".join(f"\\{each}" if each in "\\`*_{}[]<>#|!" else each for each in text)

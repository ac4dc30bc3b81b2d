"""References: every place of the project that names what a name stands for, its definition too.

Only the files are read that can name it: the model itself, its readers, and the settings that are
about any of these. A star names no column.
"""

from collections.abc import Iterator

from rocky.ide.declaration import definition_of
from rocky.ide.symbols import Symbol, symbol_at, symbols_in
from rocky.ide.view import OpenFile, Place, View
from rocky.language.names import split_name
from rocky.project import ModelFile


def references(file: OpenFile, offset: int) -> tuple[Place, ...]:
    """The places that name what stands at an offset, by file and place."""
    found = symbol_at(file, offset)
    return references_of(file.view, found.symbol, file) if found is not None else ()


def references_of(view: View, symbol: Symbol, current: OpenFile | None = None) -> tuple[Place, ...]:
    """The places that name a symbol; `current` is a file whose text may be newer."""
    found = {place: None for place in definition_of(view, symbol) if _is_name(symbol)}
    for path in sorted(set(_paths(view, symbol)) | ({current.path} if current else set())):
        file = current if current is not None and path == current.path else view.open(path)
        for each in symbols_in(file):
            if each.symbol == symbol:
                found[Place(path, each.span)] = None
        if symbol.kind == "column":
            found.update(dict.fromkeys(_other_keys(file, symbol)))
    return tuple(sorted(found))


def _is_name(symbol: Symbol) -> bool:
    """Whether the place of a definition names the thing: that of a table is only where it is."""
    return symbol.kind in ("local", "parameter", "macro", "function", "column")


def _other_keys(file: OpenFile, symbol: Symbol) -> Iterator[Place]:
    """Names in USING, which mean a column of either side."""
    for name in file.names:
        for each in name.use.members if name.use.role == "column" else ():
            if ((each.table or "").lower(), (each.column or "").lower()) == symbol[1:3]:
                yield Place(file.path, name.span)


def _paths(view: View, symbol: Symbol) -> Iterator[str]:
    """The files that may name a symbol."""
    project = view.project
    match symbol.kind:
        case "local" | "parameter" | "field":
            if symbol.place is not None:
                yield symbol.place.path
        case "table" | "column":
            yield from _about(view, symbol.name)
        case "function" | "macro":
            word = symbol.name.rpartition(".")[2]
            texts = [model.path for model in project.models.values()]
            texts += [macro.path for macro in project.macros.values()]
            texts += [each.signature.path for each in project.functions.values()]
            for path in dict.fromkeys(texts):
                if path and word in view.text_of(path).lower():
                    yield path


def _about(view: View, table: str) -> Iterator[str]:
    project = view.project
    declared = project.models.get(table) or project.sources.get(table) or project.seeds.get(table)
    name = declared.name if declared is not None else table
    own = project.models.get(table)
    models = [*view.readers(name), *([own] if own is not None else [])]
    for model in models:
        yield model.path
    source, seed = project.sources.get(table), project.seeds.get(table)
    if source is not None and source.is_declared:
        yield source.file
    if seed is not None:
        yield from {seed.path, seed.file}
    contract = project.contracts.get(table)
    if contract is not None:
        yield contract.path
    # Tests of any model may name any table.
    for model in project.models.values():
        path = model.settings_path
        if path is not None and (model in models or _may_name(model, table)):
            yield path


def _may_name(model: ModelFile, table: str) -> bool:
    settings = model.settings
    last = split_name(table)[-1]
    named = [*settings.depends_on, *settings.inputs.values()]
    named += [each for test in settings.tests for each in (test.to_table, test.table) if each]
    named += [given.ref for test in settings.test for given in test.given]
    return any(split_name(each.lower())[-1] == last for each in named)

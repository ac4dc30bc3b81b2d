"""Renaming a model: its files, or the `name` in its settings, and every place that names it."""

from collections.abc import Iterator

from rocky.diagnostics.diagnostic import Span
from rocky.ide.column_rename import written
from rocky.ide.edits import EditSet, Move, Refused, TextEdit
from rocky.ide.mentions import mentions_in
from rocky.ide.references import references_of
from rocky.ide.symbols import Symbol, first_word
from rocky.ide.view import View
from rocky.language.names import bare_name
from rocky.project import ModelFile, setting_place
from rocky.project.models import stem_of
from rocky.project.python_models import inputs_of


def rename_model(view: View, symbol: Symbol, new: str) -> EditSet | Refused:
    """The change that renames a model."""
    project = view.project
    model = project.models.get(symbol.name)
    if model is None:
        kind = "source" if symbol.name in project.sources else "seed"
        return Refused(f"`{symbol.name}` is a {kind}: only models and columns can be renamed")
    taken = (project.models, project.sources, project.seeds)
    if new.lower() != model.key and any(new.lower() in group for group in taken):
        return Refused(f"there is a table `{new}` already")
    edits: list[TextEdit] = []
    for place in references_of(view, symbol):
        file = view.open(place.path)
        if place.path == model.path and place.span in (first_word(file), Span(0, 0)):
            continue
        if place.path.endswith(".py"):
            edits += _as_input(view, place.path, model, new)
            continue
        mentioned = place.span in {each.span for each in mentions_in(file)}
        edits.append(_last_part(place.path, file.text, place.span, new, plain=mentioned))
    named = _name_edit(view, model, new)
    moves = () if named is not None else tuple(_moves(view, model, new))
    if named is not None:
        edits.append(named)
    return EditSet(tuple(dict.fromkeys(edits)), moves)


def _last_part(path: str, text: str, span: Span, new: str, *, plain: bool) -> TextEdit:
    """Only the last part of a name of several is the model's."""
    start = span.start + text[span.start : span.end].rfind(".") + 1
    return TextEdit(path, Span(start, span.end), new if plain else written(new))


def _name_edit(view: View, model: ModelFile, new: str) -> TextEdit | None:
    """The edit of `name` in the settings, where that is what names the model."""
    if model.settings.name is None:
        return None
    path, span = setting_place(model, view.project.texts, ("name",))
    said = view.text_of(path)[span.start + 1 : span.end - 1] if span is not None else ""
    if span is None or said != model.name:
        return None
    return TextEdit(path, Span(span.start + 1, span.end - 1), new)


def _moves(view: View, model: ModelFile, new: str) -> Iterator[Move]:
    """The files that are named like the model."""
    stem = stem_of(model.path)
    yield Move(model.path, _named(model.path, stem, new))
    if model.settings_path is not None and model.settings_path != model.path:
        yield Move(model.settings_path, _named(model.settings_path, stem, new))
    contract = view.project.contracts.get(model.key)
    if contract is not None:
        yield Move(contract.path, _named(contract.path, stem, new))


def _named(path: str, stem: str, new: str) -> str:
    folder, slash, name = path.rpartition("/")
    return f"{folder}{slash}{new}{name[len(stem) :]}"


def _as_input(view: View, path: str, model: ModelFile, new: str) -> Iterator[TextEdit]:
    """A Python model keeps its parameter, and its settings say which table it gets."""
    reader = view.models[path]
    sidecar = reader.settings_path
    if sidecar is None or reader.settings.inputs:
        # Inputs that are named already are mentions of their own.
        return
    for each in inputs_of(reader):
        if bare_name(each.table).lower() == model.key:
            line = f'inputs = {{ {each.parameter} = "{new}" }}\n'
            yield TextEdit(sidecar, Span(0, 0), line)

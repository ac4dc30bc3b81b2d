"""Where a model's setting stands, for findings of later stages about it."""

from collections.abc import Mapping

from rocky.project.front_matter import find_front_matter
from rocky.project.models import ModelFile
from rocky.project.toml_places import locate_keys
from rocky.project.variables import Keys
from rocky.source import SourceText, Span


def setting_place(
    model: ModelFile, texts: Mapping[str, SourceText], keys: Keys, *, on_key: bool = False
) -> tuple[str, Span | None]:
    """The file and span of a setting such as `("strategy", "time_column")`.

    A setting the model does not have itself (it may be inherited) gives the nearest table
    around it, or the model's own path with no span.
    """
    if model.settings_place is None:
        return model.path, None
    path, start = model.settings_place
    text = texts[path].text
    end = len(text)
    if path == model.path:
        matter = find_front_matter(text)
        end = matter.end if matter and matter.end is not None else end
    places = locate_keys(text[start:end])
    while keys:
        place = places.get(keys)
        if place:
            span = place.key if on_key else place.value
            return path, Span(span.start + start, span.end + start)
        keys, on_key = keys[:-1], False
    return path, None

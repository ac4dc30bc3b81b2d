"""Selectors: which models a command is about, in the words of the graph.

A selector is terms joined by commas, all of which must hold; several selectors are a union. A term
may reach out: `+model` with all it reads, `model+` with all its readers, `2+model+1` so many
levels. Sources and seeds have tags, owners and paths too: a run starts from them to reach models, a
list shows them. A model whose whole name is the text wins over any reading of `+`, `,` or `:`.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

from rocky.analysis.compilation import Compilation
from rocky.diagnostics.suggestion import closest, suggestion
from rocky.errors import NothingSelected
from rocky.project import ModelFile, Project, SeedTable, SourceTable
from rocky.project.pipeline_tables import PipelineTable
from rocky.project.toml.variables import written

_REACH: Final = re.compile(r"(?P<up>\d*\+)?(?P<body>.*?)(?P<down>\+\d*)?", re.DOTALL)
_METHODS: Final = ("tag", "owner", "path", "pipeline", "source", "seed", "name")
_MARKS: Final = "*?["
_EVERY: Final = -1
_Node = ModelFile | SourceTable | SeedTable
_SHOWN: Final = 5


@dataclass(frozen=True, slots=True)
class Term:
    """One condition: how to look (`method`), for what, and how far to reach; -1 is all the way."""

    text: str
    method: str
    value: str
    up: int = 0
    down: int = 0


def select_models(
    compilation: Compilation, selectors: Sequence[str], exclude: Sequence[str] = ()
) -> tuple[str, ...]:
    """The selected models' keys in the order they would run; all of them without a selector.

    Raises NothingSelected for a selector that matches nothing, and when nothing is left.
    """
    graph = _Graph(compilation)
    chosen: set[str] = set()
    for each in selectors:
        chosen |= _select(each, graph)
    if not selectors:
        chosen = set(compilation.project.models)
    for each in exclude:
        chosen -= _select(each, graph)
    if not chosen:
        raise NothingSelected(_nothing_left(compilation, exclude))
    return tuple(name.lower() for name in compilation.order if name.lower() in chosen)


def select_nodes(compilation: Compilation, selectors: Sequence[str]) -> frozenset[str]:
    """The keys of the selected models, sources and seeds; of all without a selector.

    Here names mean sources and seeds as well. Raises NothingSelected for a selector that matches
    nothing.
    """
    graph = _Graph(compilation, listed=True)
    if not selectors:
        return frozenset(_nodes(graph.project))
    return frozenset(key for each in selectors for key in _select(each, graph))


def _nodes(project: Project) -> dict[str, _Node]:
    """Everything that can be selected, by key; a model hides a source or a seed of its name."""
    return {**project.sources, **project.seeds, **project.models}


def parse_term(text: str) -> Term:
    """A term with its reach and its method taken apart. Never fails: a name may be anything."""
    match = _REACH.fullmatch(text.strip())
    assert match is not None
    method, colon, value = match["body"].partition(":")
    if not colon or method not in _METHODS:
        value = match["body"]
        method = "path" if "/" in value else "name"
    return Term(text, method, value, _levels(match["up"]), _levels(match["down"]))


def _levels(written: str | None) -> int:
    if written is None:
        return 0
    digits = written.strip("+")
    return int(digits) if digits else _EVERY


class _Graph:
    """Adjacency by lower-case names. A source or seed that shares a model's name is not in it.

    Where nodes are `listed`, sources and seeds are an answer; otherwise only a way to models.
    """

    def __init__(self, compilation: Compilation, *, listed: bool = False) -> None:
        self.project = compilation.project
        self.listed = listed
        self.upstream = _lowered(compilation.upstream)
        self.downstream = _lowered(compilation.downstream)


def _lowered(edges: Mapping[str, Iterable[str]]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for name, others in edges.items():
        key = name.lower()
        # A model that reads a source of its own name is no neighbour of itself.
        found.setdefault(key, set()).update(each.lower() for each in others if each.lower() != key)
    return found


def _select(selector: str, graph: _Graph) -> set[str]:
    if selector.replace("`", "").lower() in graph.project.models:
        return {selector.replace("`", "").lower()}
    found: set[str] | None = None
    for text in selector.split(","):
        if text.strip():
            reached = _reach(parse_term(text), graph)
            found = reached if found is None else found & reached
    if found is None:
        raise NothingSelected("a selector must not be empty; name a model, a `tag:` or a path")
    if not found:
        message = (
            f"no model is in all of `{selector}`; a comma means both, several selectors either"
        )
        raise NothingSelected(message)
    return found


def _reach(term: Term, graph: _Graph) -> set[str]:
    start = _matches(term, graph)
    reached = set(start)
    reached |= _walk(start, graph.upstream, term.up)
    reached |= _walk(start, graph.downstream, term.down)
    if graph.listed:
        return reached & _nodes(graph.project).keys()
    models = reached & graph.project.models.keys()
    if not models:
        kind = term.method if term.method in ("source", "seed") else "source or a seed"
        message = f"`{term.text}` selects no model: a {kind} is read, not built"
        raise NothingSelected(f"{message}; `{term.text}+` selects its readers")
    return models


def _walk(start: set[str], neighbours: Mapping[str, set[str]], levels: int) -> set[str]:
    seen, edge = set(start), set(start)
    while edge and levels:
        edge = {each for one in edge for each in neighbours.get(one, ())} - seen
        seen |= edge
        levels -= 1
    return seen


def _matches(term: Term, graph: _Graph) -> set[str]:
    """The nodes a term starts from, before it reaches out. Raises NothingSelected."""
    project = graph.project
    if term.method in ("source", "seed"):
        return _external(term, project)
    models, nodes = project.models.values(), _nodes(project)
    if term.method == "tag":
        found = {key for key, each in nodes.items() if _tagged(each, term.value)}
        known = sorted({name for each in nodes.values() for name in each.tags})
    elif term.method == "owner":
        found = {key for key, each in nodes.items() if _owned(each, term.value)}
        known = sorted({written(each.owner) for each in nodes.values() if each.owner})
    elif term.method == "path":
        found = {key for key, each in nodes.items() if path_matches(_path_of(each), term.value)}
        known = sorted({_path_of(each).rpartition("/")[0] for each in nodes.values()} - {""})
    elif term.method == "pipeline":
        found = {each.key for each in models if each.pipeline == term.value}
        found |= {key for key, writer in project.writers.items() if writer == term.value}
        known = sorted(project.config.pipeline)
    else:
        found = _named(term.value, project)
        known = [each.name for each in models]
        if graph.listed:
            found |= {key for key in nodes if fnmatchcase(key, _key_of(term.value))}
            known = [each.name for each in nodes.values()]
    if not found:
        raise NothingSelected(_unknown(term, known))
    return found


def _named(text: str, project: Project) -> set[str]:
    wanted = _key_of(text)
    if any(mark in wanted for mark in _MARKS):
        models = project.models.values()
        found = {each.key for each in models if fnmatchcase(each.key, wanted)}
        return found | {_meant(each, project) for each in models if _lies_at(each, wanted)}
    if wanted in project.models:
        return {wanted}
    return {_meant(each, project) for each in project.models.values() if each.target.key == wanted}


def _lies_at(model: ModelFile, pattern: str) -> bool:
    return fnmatchcase(model.target.key, pattern)


def _meant(model: ModelFile, project: Project) -> str:
    """The model whose table a full name is: that of a masked table is its clear one's, too."""
    of = project.twins.get(model.key, model.key)
    return of if of in project.models else model.key


def _key_of(text: str) -> str:
    return text.replace("`", "").lower()


def _tagged(node: _Node, wanted: str) -> bool:
    """`tag:key=value` holds for that pair; `tag:word` for a key or a value of that name."""
    key, equals, value = wanted.partition("=")
    if equals:
        return node.tags.get(key) == value
    return wanted in node.tags or wanted in node.tags.values()


def _owned(node: _Node, wanted: str) -> bool:
    """Whether the owner is the one named, or fits its pattern; without regard to case."""
    return node.owner is not None and fnmatchcase(node.owner.lower(), wanted.lower())


def _path_of(node: _Node) -> str:
    return node.file if isinstance(node, SourceTable) else node.path


def path_matches(path: str, wanted: str) -> bool:
    """Whether a model's path is the one named, lies below it, or fits its pattern."""
    clean = wanted.removeprefix("./").rstrip("/")
    if any(mark in clean for mark in _MARKS):
        parts = path.split("/")
        return _fits(parts, clean.split("/"))
    return path == clean or path.startswith(f"{clean}/") or not clean


def _fits(parts: Sequence[str], patterns: Sequence[str]) -> bool:
    """`*` stays inside one name and `**` is any number of folders."""
    if not patterns:
        return not parts
    if patterns[0] == "**":
        return any(_fits(parts[at:], patterns[1:]) for at in range(len(parts) + 1))
    return bool(parts) and fnmatchcase(parts[0], patterns[0]) and _fits(parts[1:], patterns[1:])


def _external(term: Term, project: Project) -> set[str]:
    group: Mapping[str, object] = project.sources if term.method == "source" else project.seeds
    wanted = term.value.replace("`", "").lower()
    found = {
        key for key in group if any(fnmatchcase(name, wanted) for name in _names_of(key, group))
    }
    if not found:
        raise NothingSelected(_unknown(term, sorted(group)))
    return found


def _names_of(key: str, group: Mapping[str, object]) -> tuple[str, ...]:
    """What a source may be called: a pipeline's table also goes by its schema and its name."""
    if isinstance(group[key], PipelineTable):
        return key, key.partition(".")[2]
    return (key,)


_NOUNS: Final = {
    "name": "model",
    "tag": "model with the tag",
    "owner": "model of the owner",
    "path": "model at the path",
}


def _unknown(term: Term, known: Sequence[str]) -> str:
    noun = _NOUNS.get(term.method, term.method)
    hint = suggestion(term.value, known)
    if hint is None:
        shown = ", ".join(f"`{each}`" for each in known[:_SHOWN])
        hint = f"there are {len(known)}, such as {shown}"
        if len(known) <= _SHOWN:
            hint = f"there {'is' if len(known) == 1 else 'are'} {shown or 'none'}"
    method, colon, _ = term.value.partition(":")
    if term.method == "name" and colon and method.isidentifier():
        *others, last = (f"`{each}:`" for each in _METHODS)
        methods = f"a selector begins with a model's name, {', '.join(others)} or {last}"
        meant = closest(method, _METHODS)
        said = f"did you mean `{meant}:`?" if meant else methods
        return f"no selector method `{method}:` and no model `{term.value}`; {said}"
    return f"no {noun} `{term.value}`; {hint}"


def _nothing_left(compilation: Compilation, exclude: Sequence[str]) -> str:
    if not compilation.project.models:
        return "the project has no models; `rocky init` starts one"
    listed = ", ".join(f"`{each}`" for each in exclude)
    return f"nothing is left to select after excluding {listed}"

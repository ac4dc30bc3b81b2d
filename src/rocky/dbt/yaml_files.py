"""YAML files of a dbt project, and the settings that folders and properties give to nodes."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from rocky.dbt.package_files import is_file_below
from rocky.errors import ImportRefused, needs_extra

with needs_extra("dbt"):
    import yaml

_TABLES: Final = frozenset({"meta", "column_types", "grants", "contract", "persist_docs", "docs"})
"""Settings that are tables themselves, not folders."""
_ADDED: Final = frozenset({"tags", "meta", "pre-hook", "post-hook"})


_MOST_VALUES: Final = 1_000_000
_DEEPEST: Final = 100
_YAML_ERRORS: Final = (
    yaml.YAMLError,
    OSError,
    ArithmeticError,
    AttributeError,
    LookupError,
    TypeError,
    ValueError,
)
"""What the library raises for texts that are no YAML, or whose tags are not what they say."""


class _Loader(yaml.SafeLoader):  # type: ignore[misc]  # the library has no types
    """Values alone, and no more of them than there would be without aliases."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        # By nodes, which live as long as this: how many values each stands for, and how deep.
        self._extents: dict[int, tuple[int, int]] = {}

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        at = self.peek_event().start_mark
        is_alias = self.check_event(yaml.AliasEvent)
        node = super().compose_node(parent, index)
        if is_alias:
            if id(node) not in self._extents:
                raise yaml.composer.ComposerError(None, None, "an alias is inside of itself", at)
            return node
        inner = [self._extents[id(each)] for each in _children(node)]
        values = 1 + sum(each[0] for each in inner)
        depth = 1 + max((each[1] for each in inner), default=0)
        if values > _MOST_VALUES or depth > _DEEPEST:
            said = f"it holds more than {_MOST_VALUES} values, or more than {_DEEPEST} deep"
            raise yaml.composer.ComposerError(None, None, said, at)
        self._extents[id(node)] = values, depth
        return node


def _children(node: yaml.Node | None) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [each for pair in node.value for each in pair]
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []


def load_yaml(path: Path, root: Path) -> Mapping[str, Any]:
    """The table that a file below `root` holds. Raises ImportRefused where it holds none."""
    if not is_file_below(root, path):
        raise ImportRefused(f"`{path}` is no regular file below `{root}`")
    try:
        found = yaml.load(path.read_text(encoding="utf-8"), _Loader)
    except RecursionError as error:
        raise ImportRefused(f"`{path}` cannot be read: it is nested too deep") from error
    except _YAML_ERRORS as error:
        said = " ".join(str(error).split())
        raise ImportRefused(f"`{path}` cannot be read: {said}") from error
    if found is None:
        return {}
    if not isinstance(found, Mapping):
        raise ImportRefused(f"`{path}` holds no table")
    return found


def folder_settings(block: Any, package: str, folders: Sequence[str]) -> dict[str, Any]:
    """What a block such as `models:` of `dbt_project.yml` says of a node, by its folders."""
    settings: dict[str, Any] = {}
    for table in _on_the_way(block, (package, *folders)):
        for key, value in table.items():
            name = str(key).removeprefix("+")
            is_setting = (
                str(key).startswith("+") or name in _TABLES or not isinstance(value, Mapping)
            )
            if is_setting:
                settings = merged(settings, {name: value})
    return settings


def _on_the_way(block: Any, path: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    here = block
    if not isinstance(here, Mapping):
        return
    yield here
    for part in path:
        here = here.get(part)
        if not isinstance(here, Mapping):
            return
        yield here


def merged(under: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Settings over others: tags and hooks add up, `meta` is joined key by key."""
    result = dict(under)
    for key, value in over.items():
        name = str(key).replace("pre_hook", "pre-hook").replace("post_hook", "post-hook")
        before = result.get(name)
        if name == "meta" and isinstance(before, Mapping) and isinstance(value, Mapping):
            result[name] = {**before, **value}
        elif name in _ADDED - {"meta"} and before:
            result[name] = [*_listed(before), *_listed(value)]
        else:
            result[name] = value
    return result


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]

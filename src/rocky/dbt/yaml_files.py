"""YAML files of a dbt project, and the settings that folders and properties give to nodes."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from rocky.errors import ImportRefused, needs_extra

with needs_extra("dbt"):
    import yaml

_TABLES: Final = frozenset({"meta", "column_types", "grants", "contract", "persist_docs", "docs"})
"""Settings that are tables themselves, not folders."""
_ADDED: Final = frozenset({"tags", "meta", "pre-hook", "post-hook"})


def load_yaml(path: Path) -> Mapping[str, Any]:
    """The table that a file holds. Raises ImportRefused where it holds none."""
    try:
        found = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
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
        name = key.replace("pre_hook", "pre-hook").replace("post_hook", "post-hook")
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

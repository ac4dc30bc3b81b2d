"""The manifest of a dbt project: `target/manifest.json`, as dbt 1.8 and later write it (v12).

It is a stranger's file: whatever in it is not what it should be is left out or refused, and paths
in it are used only below the project's own folder.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, get_args

from rocky.dbt.package_files import is_below
from rocky.dbt.values import (
    Column,
    DbtProject,
    Exposure,
    GenericTest,
    Kind,
    Macro,
    Node,
    Origin,
    Source,
    UnitTest,
)
from rocky.errors import ImportRefused

VERSIONS: Final = ("v10", "v11", "v12")
"""The forms that are read alike; v12 is that of dbt 1.8 and later."""
_MOST_BYTES: Final = 512 * 1024 * 1024


def find_manifest(root: Path, settings: Mapping[str, Any]) -> Path | None:
    """What the last `dbt compile` left below the project's folder; it is not looked for outside."""
    path = root / str(settings.get("target-path") or "target") / "manifest.json"
    return path if is_below(root, path) and path.is_file() else None


def load_manifest(path: Path, root: Path, origin: Origin = "manifest") -> DbtProject:
    """The project that a manifest describes. Raises ImportRefused for what is none."""
    try:
        if not path.is_file():
            raise ImportRefused(f"`{path}` is no file")
        if path.stat().st_size > _MOST_BYTES:
            raise ImportRefused(f"`{path}` is larger than {_MOST_BYTES >> 20} MiB")
        data = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise ImportRefused(f"`{path}` cannot be read as a manifest of dbt: {error}") from error
    metadata = _table(_table(data).get("metadata"))
    form = str(metadata.get("dbt_schema_version", "")).rpartition("/")[2].removesuffix(".json")
    if form not in VERSIONS:
        raise ImportRefused(
            f"`{path}` is no manifest that Rocky reads ({form or 'it names no version'}):"
            f" run `dbt compile` of dbt 1.8 or later, which writes {VERSIONS[-1]}"
        )
    nodes = [each for each in map(_node, _entries(data, "nodes")) if each is not None]
    return DbtProject(
        name=_text(metadata, "project_name") or _root_package(nodes),
        root=root,
        origin=origin,
        adapter=_text(metadata, "adapter_type") or "spark",
        nodes=_by_id(nodes),
        sources={each.id: each for each in map(_source, _entries(data, "sources"))},
        macros=tuple(map(_macro, _entries(data, "macros"))),
        exposures=tuple(map(_exposure, _entries(data, "exposures"))),
        groups={
            _text(each, "name"): _owner(_table(each.get("owner")))
            for each in _entries(data, "groups")
        },
        unit_tests=tuple(map(read_unit_test, _entries(data, "unit_tests"))),
    )


def _by_id(nodes: Iterable[Node]) -> dict[str, Node]:
    return {each.id: each for each in nodes}


def _root_package(nodes: Iterable[Node]) -> str:
    return next((each.package for each in nodes), "")


def _node(data: Mapping[str, Any]) -> Node | None:
    kind = _text(data, "resource_type")
    if kind not in get_args(Kind):
        return None
    version = data.get("version")
    config = _table(data.get("config"))
    made = Node(
        id=_text(data, "unique_id"),
        kind=kind,  # type: ignore[arg-type]  # one of them, as was looked up
        name=_text(data, "name"),
        package=_text(data, "package_name"),
        path=_text(data, "original_file_path"),
        text=_text(data, "raw_code"),
        compiled=_text(data, "compiled_code") or None,
        ctes=tuple(_text(each, "sql") for each in _tables(data.get("extra_ctes"))),
        config=config,
        columns=read_columns(_table(data.get("columns")).values()),
        description=_text(data, "description"),
        database=_text(data, "database") or None,
        schema=_text(data, "schema"),
        alias=_text(data, "alias"),
        relation=_text(data, "relation_name") or None,
        version=None if version is None else str(version),
        is_latest=version == data.get("latest_version"),
        group=_text(data, "group") or None,
        language=_text(data, "language") or "sql",
        reads=_texts(_table(data.get("depends_on")).get("nodes")),
    )
    call = data.get("test_metadata")
    if not isinstance(call, Mapping):
        return made
    attached = _text(data, "attached_node") or next(iter(made.reads), "")
    named = GenericTest(
        _text(call, "name"),
        _text(call, "namespace") or None,
        {**_table(call.get("kwargs"))},
        attached,
    )
    return replace(made, test=named)


def read_columns(columns: Any) -> dict[str, Column]:
    """Columns as properties have them, by name; none where they are no list."""
    found: dict[str, Column] = {}
    if not isinstance(columns, Iterable):
        return found
    for each in filter(lambda one: isinstance(one, Mapping), columns):
        constraints = {_text(one, "type") for one in _tables(each.get("constraints"))}
        name = _text(each, "name")
        found[name] = Column(
            name,
            _text(each, "description"),
            _text(each, "data_type") or None,
            bool(constraints & {"not_null", "primary_key"}),
        )
    return found


def _source(data: Mapping[str, Any]) -> Source:
    return Source(
        id=_text(data, "unique_id"),
        group=_text(data, "source_name"),
        name=_text(data, "name"),
        package=_text(data, "package_name"),
        path=_text(data, "original_file_path"),
        database=_text(data, "database") or None,
        schema=_text(data, "schema"),
        identifier=_text(data, "identifier"),
        description=_text(data, "description") or _text(data, "source_description"),
        columns=read_columns(_table(data.get("columns")).values()),
        tags=_texts(data.get("tags")),
        meta=_table(data.get("meta")),
        freshness=_table(data.get("freshness")),
        loaded_at=_text(data, "loaded_at_field") or _text(data, "loaded_at_query"),
    )


def _macro(data: Mapping[str, Any]) -> Macro:
    return Macro(
        _text(data, "package_name"),
        _text(data, "name"),
        _text(data, "macro_sql"),
        _text(data, "original_file_path"),
    )


def _exposure(data: Mapping[str, Any]) -> Exposure:
    return Exposure(
        _text(data, "name"),
        _text(data, "type"),
        _owner(_table(data.get("owner"))),
        _texts(_table(data.get("depends_on")).get("nodes")),
    )


def read_unit_test(data: Mapping[str, Any]) -> UnitTest:
    """A unit test as a manifest or a properties file has it."""
    expect = _table(data.get("expect"))
    given = _tables(data.get("given"))
    problem = None
    if data.get("overrides"):
        problem = "it overrides macros or variables"
    elif any(_text(each, "format") not in ("", "dict") for each in (*given, expect)):
        problem = "its rows are not written as YAML"
    return UnitTest(
        name=_text(data, "name"),
        model=_text(data, "model"),
        path=_text(data, "original_file_path"),
        given=tuple((_text(each, "input"), _rows(each.get("rows"))) for each in given),
        expected=_rows(expect.get("rows")),
        description=_text(data, "description"),
        problem=problem,
    )


def _rows(value: Any) -> tuple[Mapping[str, Any], ...]:
    return tuple(_tables(value))


def _owner(owner: Mapping[str, Any]) -> str:
    email = owner.get("email")
    first = email[0] if isinstance(email, list) and email else email
    return _text(owner, "name") or str(first or "")


def _entries(data: Any, key: str) -> Iterator[Mapping[str, Any]]:
    found = _table(data).get(key)
    for each in _table(found).values():
        if isinstance(each, Mapping):
            yield each


def _table(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _tables(value: Any) -> list[Mapping[str, Any]]:
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []


def _texts(value: Any) -> tuple[str, ...]:
    listed = value if isinstance(value, list) else [value] if isinstance(value, str) else []
    return tuple(map(str, listed))


def _text(data: Mapping[str, Any], key: str) -> str:
    value = data.get(key)
    return "" if value is None else str(value)

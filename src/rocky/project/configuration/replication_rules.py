"""Rules of replication pipelines that the shape of `rocky.toml` alone does not say.

A setting that would have no effect is a mistake: whoever wrote it believes in it. A brace in a
template that belongs to no placeholder (`{tenant}`, `{regions:-}`) is a mistake, never part of a
name.
"""

import re
from collections.abc import Collection
from typing import Final, NamedTuple

from rocky.diagnostics.suggestion import suggestion
from rocky.language.datatypes.text import TypeSyntaxError, parse_type
from rocky.project.configuration.pipelines import (
    MetadataColumn,
    ReplicationPipeline,
    ReplicationSource,
    SchemaPattern,
    TableOverride,
)
from rocky.project.toml.documents import Problem, Problems
from rocky.project.toml.variables import Keys, Unset, written

_PLACEHOLDER: Final = re.compile(r"\{([^{}:]*)(?::([^{}]*))?\}")
_BRACE: Final = re.compile(r"[{}]")


class Placeholder(NamedTuple):
    """A placeholder and where it stands; `joint` is None where the template leaves it open."""

    name: str
    joint: str | None
    start: int
    end: int


def find_placeholders(template: str) -> list[Placeholder]:
    """The placeholders of a template, in order."""
    return [
        Placeholder(found[1], found[2], found.start(), found.end())
        for found in _PLACEHOLDER.finditer(template)
    ]


def find_stray_brace(template: str) -> int | None:
    """Where a brace stands that belongs to no placeholder."""
    blank = _PLACEHOLDER.sub(lambda found: " " * len(found.group()), template)
    stray = _BRACE.search(blank)
    return stray.start() if stray else None


_VIEWS: Final = ("view", "materialized_view")


def check_overrides(pipeline: ReplicationPipeline, at: Keys, problems: Problems) -> None:
    """Report strategies that cannot be, keys that are missing, and overrides that do nothing."""
    _check_strategy(pipeline.strategy, (*at, "strategy"), problems)
    seen: dict[tuple[str | None, str | None], int] = {}
    for index, override in enumerate(pipeline.table_overrides):
        here = (*at, "table_overrides", index)
        _check_match(override, here, seen, problems)
        seen.setdefault(_matched(override), index)
        if override.strategy is not None:
            _check_strategy(override.strategy, (*here, "strategy"), problems)
    _check_keys(pipeline, at, problems)


def _check_strategy(strategy: str, at: Keys, problems: Problems) -> None:
    if strategy in _VIEWS:
        problems.append(
            Problem(
                at,
                f"a copy has rows of its own and cannot be a `{strategy}`",
                "use `full_refresh`, or declare the source and select from it in a model",
            )
        )


def _matched(override: TableOverride) -> tuple[str | None, str | None]:
    connector, table = override.match
    return connector and connector.lower(), table and table.lower()


def _check_match(
    override: TableOverride,
    at: Keys,
    seen: dict[tuple[str | None, str | None], int],
    problems: Problems,
) -> None:
    first = seen.get(_matched(override))
    if not override.match.connector and not override.match.table:
        problems.append(
            Problem(
                (*at, "match"),
                "an override must say which tables it is for",
                "set `connector`, `table` or both",
            )
        )
    elif first is not None:
        problems.append(
            Problem((*at, "match"), f"override {first + 1} is for the same tables", "merge the two")
        )
    if all(value is None for value in override[1:]):
        problems.append(Problem(at, "this override changes nothing"))


def _check_keys(pipeline: ReplicationPipeline, at: Keys, problems: Problems) -> None:
    overrides = pipeline.table_overrides
    merging = [
        keys
        for keys, strategy in (
            ((*at, "strategy"), pipeline.strategy),
            *(
                ((*at, "table_overrides", index, "strategy"), each.strategy)
                for index, each in enumerate(overrides)
            ),
        )
        if strategy == "merge"
    ]
    given = [
        (at, "merge_keys", pipeline.merge_keys),
        (at, "merge_keys_fallback", pipeline.merge_keys_fallback),
    ]
    for index, each in enumerate(overrides):
        here = (*at, "table_overrides", index)
        given += [
            (here, "merge_keys", each.merge_keys or ()),
            (here, "merge_keys_fallback", each.merge_keys_fallback or ()),
        ]
    if merging and not any(keys for _, _, keys in given):
        problems.append(
            Problem(
                merging[0],
                "`merge` needs `merge_keys`: the columns by which a row is known",
                'for example `merge_keys = ["id"]`',
            )
        )
    for here, key, keys in given:
        if keys and not merging:
            problems.append(Problem((*here, key), f"`{key}` has no effect: no table is merged"))
    if merging and pipeline.merge_keys and pipeline.merge_keys_fallback:
        problems.append(
            Problem(
                (*at, "merge_keys_fallback"),
                "`merge_keys_fallback` has no effect beside `merge_keys`",
            )
        )


VARIADIC: Final = "..."
RESERVED: Final = ("table", "id")
"""Names that mean something in filters already, so that no component may be called so."""

TABLE_NAMES: Final = ("catalog", "schema")
"""Placeholders that every template knows: of the source."""

_COMPONENT: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_CALL: Final = re.compile(r"\w+\s*\(.*\)", re.DOTALL)
_DEFAULT: Final = ReplicationPipeline()


def check_replication(pipeline: ReplicationPipeline, at: Keys, problems: Problems) -> None:
    """Report what is wrong with a replication pipeline."""
    _check_source(pipeline, (*at, "source"), problems)
    names: tuple[str, ...] = ()
    pattern = pipeline.source.schema_pattern
    if pattern is not None:
        names = component_names(pattern)
        _check_pattern(pattern, (*at, "source", "schema_pattern"), problems)
    known = (*names, *(each for each in TABLE_NAMES if each not in names))
    target = pipeline.target
    for key, template in (
        ("catalog_template", target.catalog_template),
        ("schema_template", target.schema_template),
    ):
        if template is not None:
            _check_template(template, known, (*at, "target", key), problems)
    _check_metadata(pipeline.metadata_columns, (*known, *RESERVED), at, problems)
    check_overrides(pipeline, at, problems)
    _check_timestamp(pipeline, at, problems)


def component_names(pattern: SchemaPattern) -> tuple[str, ...]:
    """The components of a pattern, without the mark of the variadic one."""
    return tuple(each.removesuffix(VARIADIC) for each in pattern.components)


def _check_source(pipeline: ReplicationPipeline, at: Keys, problems: Problems) -> None:
    source = pipeline.source
    needs = {"lake": "path", "jdbc": "url"}.get(source.kind)
    if needs is not None and getattr(source, needs) is None:
        problems.append(Problem((*at, "type"), f"a source of type `{source.kind}` needs `{needs}`"))
    for key in _ineffective(source):
        problems.append(
            Problem((*at, key), f"`{key}` has no effect on a source of type `{source.kind}`")
        )
    if source.adapter not in ("default", pipeline.target.adapter):
        problems.append(
            Problem(
                (*at, "adapter"),
                f"a pipeline reads with the adapter it writes with, `{pipeline.target.adapter}`",
                "leave out `adapter`",
            )
        )


def _ineffective(source: ReplicationSource) -> list[str]:
    found: list[str] = []
    if source.kind != "lake":
        found += ["path"] if source.path is not None else []
        found += ["format"] if source.format != "auto" else []
    if source.kind != "jdbc" and source.url is not None:
        found.append("url")
    return found


def _check_pattern(pattern: SchemaPattern, at: Keys, problems: Problems) -> None:
    if not pattern.separator:
        problems.append(Problem((*at, "separator"), "`separator` must not be empty"))
    if not pattern.components:
        problems.append(
            Problem(
                (*at, "components"),
                "`components` must name at least one part of a schema's name",
                'for example `components = ["tenant", "regions...", "connector"]`',
            )
        )
    seen: set[str] = set()
    for index, (text, name) in enumerate(
        zip(pattern.components, component_names(pattern), strict=True)
    ):
        message = _component_problem(name, seen)
        if message is None and text.endswith(VARIADIC) and VARIADIC in seen:
            message = "only one component may take several parts"
        if message is not None:
            problems.append(Problem((*at, "components", index), message))
        seen.add(name.lower())
        if text.endswith(VARIADIC):
            seen.add(VARIADIC)


def _component_problem(name: str, seen: Collection[str]) -> str | None:
    if not _COMPONENT.fullmatch(name):
        return f"`{written(name)}` is not a name: use letters, digits and underscores"
    if name.lower() in RESERVED:
        return f"no component may be called `{name}`: filters use that name"
    if name.lower() in seen:
        return f"component `{name}` is named twice"
    return None


def _check_template(template: str, known: Collection[str], at: Keys, problems: Problems) -> None:
    if isinstance(template, Unset):
        return
    shown = written(template)
    if not template:
        problems.append(Problem(at, "a template must not be empty"))
    stray = find_stray_brace(template)
    if stray is not None:
        problems.append(
            Problem(
                at,
                f"a brace in `{shown}` belongs to no placeholder",
                "write `{name}` or `{name:SEPARATOR}`",
                offset=stray,
            )
        )
    for each in find_placeholders(template):
        if each.name not in known:
            listed = "known names: " + ", ".join(f"`{name}`" for name in known)
            problems.append(
                Problem(
                    at,
                    f"no component `{each.name}` in the schema pattern",
                    suggestion(each.name, known) or listed,
                    offset=each.start,
                )
            )


def _check_metadata(
    columns: tuple[MetadataColumn, ...], known: Collection[str], at: Keys, problems: Problems
) -> None:
    seen: set[str] = set()
    for index, column in enumerate(columns):
        here = (*at, "metadata_columns", index)
        name = column.name.lower()
        if not name or name in seen:
            said = "is named twice" if name else "has no name"
            problems.append(Problem((*here, "name"), f"metadata column `{column.name}` {said}"))
        seen.add(name)
        try:
            parse_type(column.type)
        except TypeSyntaxError as error:
            problems.append(Problem((*here, "type"), str(error), offset=error.offset))
        if _CALL.fullmatch(column.value.strip()):
            problems.append(
                Problem(
                    (*here, "value"),
                    "a metadata column holds a value, not an expression",
                    "write the value, `NULL`, or a placeholder such as `{schema}`",
                )
            )
        elif column.value:
            _check_template(column.value, known, (*here, "value"), problems)


def _check_timestamp(pipeline: ReplicationPipeline, at: Keys, problems: Problems) -> None:
    timed = ("incremental", "merge")
    used = (
        pipeline.strategy in timed
        or pipeline.checks.freshness is not None
        or any(each.strategy in timed for each in pipeline.table_overrides)
    )
    if pipeline.timestamp_column != _DEFAULT.timestamp_column and not used:
        problems.append(
            Problem(
                (*at, "timestamp_column"),
                f"`timestamp_column` has no effect: `{pipeline.strategy}` copies every row",
                'set `strategy = "incremental"`, or leave it out',
            )
        )

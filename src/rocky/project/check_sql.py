"""SQL in the checks of pipelines: assertions, queries of one's own, and the keys of an overlap."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final, NamedTuple

from rocky.diagnostics.diagnostic import SourceText
from rocky.language.macros.expansion import Expansion
from rocky.project.configuration.config import Config
from rocky.project.configuration.pipelines import SOURCE_PLACE, TABLE_PLACE, Checks, Pipeline
from rocky.project.files import Report
from rocky.project.macros import Macros
from rocky.project.setting_sql import (
    SettingPlace,
    SettingSql,
    assertion_sql,
    expand_assertions,
    expand_setting,
)
from rocky.project.toml.documents import Document
from rocky.project.toml.parser import locate_keys
from rocky.project.toml.variables import Keys

SUBJECT: Final = "rtable_"
"""What stands for `{table}` in a query: as long, so that places stay."""
COPIED: Final = "rsource_"
"""What stands for `{source}`."""

Expansions = Mapping[Keys, Expansion | None]


class CheckSql(NamedTuple):
    """SQL of a check; `table` is which tables it is about, all where it is None."""

    pipeline: str
    setting: SettingSql
    table: str | None = None


def find_check_sql(config: Config) -> Iterator[CheckSql]:
    """The SQL of all checks of pipelines, in their order."""
    for name, pipeline in config.pipeline.items():
        checks, at = _checks(pipeline), _at(name)
        if checks is None:
            continue
        for each in assertion_sql(checks.assertions, (*at, "assertions")):
            index = each.keys[-2]
            assert isinstance(index, int)
            yield CheckSql(name, each, checks.assertions[index].table)
        for number, custom in enumerate(checks.custom):
            keys = (*at, "custom", number, "sql")
            yield CheckSql(name, SettingSql(keys, "query", custom.sql))
        overlap = checks.cross_source_overlap
        if overlap is not None and overlap.key_expr is not None:
            keys = (*at, "cross_source_overlap", "key_expr")
            yield CheckSql(name, SettingSql(keys, "key", overlap.key_expr))


def with_stand_ins(sql: str) -> str:
    """A query with names in the place of `{table}` and `{source}`, which are no SQL."""
    return sql.replace(TABLE_PLACE, SUBJECT).replace(SOURCE_PLACE, COPIED)


def _without_stand_ins(sql: str) -> str:
    return sql.replace(SUBJECT, TABLE_PLACE).replace(COPIED, SOURCE_PLACE)


def _checks(pipeline: Pipeline) -> Checks | None:
    return getattr(pipeline, "checks", None)


def _at(pipeline: str) -> Keys:
    return ("pipeline", pipeline, "checks")


def expand_checks(
    config: Config, macros: Macros, document: Document | None, report: Report
) -> tuple[Config, Expansions]:
    """The settings with the macros in the SQL of checks expanded, and the expansions by keys."""
    if document is None or "@" not in document.text:
        return config, {}
    pipelines: dict[str, Pipeline] = {}
    expansions: dict[Keys, Expansion | None] = {}
    for name, pipeline in config.pipeline.items():
        checks = _checks(pipeline)
        if checks is not None:
            made, found = _expand(checks, _at(name), macros, document, report)
            expansions |= found
            pipeline = pipeline._replace(checks=made)  # type: ignore[call-arg]  # noqa: PLW2901 - it has checks
        pipelines[name] = pipeline
    return config._replace(pipeline=pipelines), expansions


def _expand(
    checks: Checks, at: Keys, macros: Macros, document: Document, report: Report
) -> tuple[Checks, dict[Keys, Expansion | None]]:
    assertions, expansions = expand_assertions(
        checks.assertions, (*at, "assertions"), macros, document, report
    )
    custom = list(checks.custom)
    for number, each in enumerate(custom):
        keys = (*at, "custom", number, "sql")
        found = expand_setting(keys, with_stand_ins(each.sql), macros, document, report)
        if found is not None:
            expansions |= found
            made = found[keys]
            if made is not None:
                custom[number] = each._replace(sql=_without_stand_ins(made.text))
                expansions[keys] = replace(made, source=each.sql)
    overlap = checks.cross_source_overlap
    if overlap is not None and overlap.key_expr is not None:
        keys = (*at, "cross_source_overlap", "key_expr")
        found = expand_setting(keys, overlap.key_expr, macros, document, report)
        made = found[keys] if found is not None else None
        expansions |= found or {}
        overlap = overlap._replace(key_expr=made.text) if made is not None else overlap
    changed = checks._replace(
        assertions=assertions, custom=tuple(custom), cross_source_overlap=overlap
    )
    return changed, expansions


def place_check(source: SourceText, setting: SettingSql, expansions: Expansions) -> SettingPlace:
    """Where the SQL of a check was written in the settings file."""
    places, keys = locate_keys(source.text), setting.keys
    expansion = expansions.get(keys)
    said = expansion.source if expansion is not None else setting.sql
    own, used = places.get(keys), places.get((*keys[:-1], "use"))
    place = SettingPlace(source.path, own.value if own else None, source.text, said, expansion)
    if own is not None or used is None:
        return place
    # The assertion has its SQL from a named test: both places are told.
    name = source.text[used.value.start + 1 : used.value.end - 1]
    found = places.get(("test", name, keys[-1]))
    within = place._replace(value=found.value) if found is not None else None
    return place._replace(value=used.value, shared=(name, within) if within else None)

"""Rules of pipelines and of their checks: settings that would do nothing are refused.

Which kinds of check a pipeline can have follows from what it has: a source to compare a copy with,
a timestamp column, the right to write tables of its own.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from rocky.project.configuration.circles import find_circles
from rocky.project.configuration.model import ABOUT_ROWS
from rocky.project.configuration.pipelines import (
    SOURCE_PLACE,
    Checks,
    LoadOptions,
    LoadPipeline,
    PipelineSetting,
    SnapshotPipeline,
    Toggle,
)
from rocky.project.toml.documents import Problem, Problems
from rocky.project.toml.variables import Keys, Unset

_DEFAULT: Final = LoadOptions()


def check_load(pipeline: LoadPipeline, at: Keys, problems: Problems) -> None:
    """Report what is wrong with a load pipeline."""
    delimiter = pipeline.options.csv_delimiter
    if "://" in pipeline.source_dir and not pipeline.source_dir.startswith("file://"):
        problems.append(
            Problem(
                (*at, "source_dir"),
                "`source_dir` must be a folder: files are known by their bytes, read here",
                'copy an object store with `type = "replication"` instead',
            )
        )
    elif not pipeline.source_dir and not isinstance(pipeline.source_dir, Unset):
        problems.append(Problem((*at, "source_dir"), "`source_dir` must not be empty"))
    if len(delimiter) != 1 or delimiter in '"\r\n':
        problems.append(
            Problem(
                (*at, "options", "csv_delimiter"),
                "`csv_delimiter` must be one character, and no quote or line end",
            )
        )
    if pipeline.format in ("parquet", "json_lines"):
        _check_csv_options(pipeline, at, problems)


def check_snapshot(pipeline: SnapshotPipeline, at: Keys, problems: Problems) -> None:
    """Report what is wrong with a snapshot pipeline."""
    if not pipeline.unique_key:
        problems.append(Problem((*at, "unique_key"), "`unique_key` must name at least one column"))
    if pipeline.source.adapter not in ("default", pipeline.target.adapter):
        problems.append(
            Problem(
                (*at, "source", "adapter"),
                f"a pipeline reads with the adapter it writes with, `{pipeline.target.adapter}`",
                "leave out `adapter`",
            )
        )
    source, target = pipeline.source, pipeline.target
    if [each.lower() for each in source[:3]] == [each.lower() for each in target[:3]]:
        problems.append(
            Problem((*at, "target", "table"), "the history of a table cannot be kept in it")
        )


def _check_csv_options(pipeline: LoadPipeline, at: Keys, problems: Problems) -> None:
    for key in ("csv_delimiter", "csv_has_header"):
        if getattr(pipeline.options, key) != getattr(_DEFAULT, key):
            problems.append(
                Problem(
                    (*at, "options", key),
                    f'`{key}` has no effect with `format = "{pipeline.format}"`',
                )
            )


_COPIES: Final = "replication"
_OWN_TIMESTAMPS: Final = frozenset({"replication", "snapshot"})
_SWITCHES: Final = frozenset({"enabled", "fail_on_error"})
_MOST_NULLS: Final = 1.0


def find_check_problems(checks: Checks, kind: str, table: Any, at: Keys) -> Iterator[Problem]:
    """Problems of the checks of a pipeline of a kind; `table` is what was written, at `at`."""
    if not isinstance(table, Mapping):
        return
    if "enabled" not in table and table.keys() - _SWITCHES:
        yield Problem(
            at,
            "checks are set and not enabled",
            "write `enabled = true`, or `enabled = false` to leave them off",
        )
    yield from _inert(checks, kind, at)
    yield from _null_rate(checks, at)
    yield from _custom(checks, kind, at)
    yield from _overlap(checks, at)
    yield from _quarantine(checks, kind, at)


def _inert(checks: Checks, kind: str, at: Keys) -> Iterator[Problem]:
    if kind != _COPIES and _is_on(checks.column_match):
        yield Problem(
            (*at, "column_match"),
            f"`column_match` compares a copy with its source, and a {kind} pipeline makes none",
            "remove it",
        )
    freshness = checks.freshness
    if freshness is None:
        return
    if kind in _OWN_TIMESTAMPS and freshness.timestamp_column is not None:
        yield Problem(
            (*at, "freshness", "timestamp_column"),
            f"a {kind} pipeline knows the timestamp column of its tables",
            "remove `timestamp_column` here",
        )
    if kind not in _OWN_TIMESTAMPS and freshness.timestamp_column is None:
        yield Problem(
            (*at, "freshness"),
            f"`freshness` of a {kind} pipeline needs `timestamp_column`",
        )


def _null_rate(checks: Checks, at: Keys) -> Iterator[Problem]:
    check = checks.null_rate
    if check is None:
        return
    if not check.columns:
        yield Problem((*at, "null_rate", "columns"), "`null_rate` names no column")
    if check.threshold > _MOST_NULLS:
        yield Problem(
            (*at, "null_rate", "threshold"),
            "`threshold` is a share of the rows, and no more than all of them can be null",
            "write 0.05 for 5 %",
        )
    if check.sample_percent == 0:
        yield Problem((*at, "null_rate", "sample_percent"), "a sample of 0 % has no rows")


def _custom(checks: Checks, kind: str, at: Keys) -> Iterator[Problem]:
    names: set[str] = set()
    for index, check in enumerate(checks.custom):
        place = (*at, "custom", index)
        if not check.sql.strip():
            yield Problem((*place, "sql"), f"the custom check `{check.name}` has no query")
        if check.name in names:
            yield Problem((*place, "name"), f"two custom checks are called `{check.name}`")
        names.add(check.name)
        if SOURCE_PLACE in check.sql and kind != _COPIES:
            yield Problem(
                (*place, "sql"), f"`{SOURCE_PLACE}` stands for the source of a copy: there is none"
            )


def _overlap(checks: Checks, at: Keys) -> Iterator[Problem]:
    check = checks.cross_source_overlap
    if check is not None and bool(check.keys) == (check.key_expr is not None):
        yield Problem(
            (*at, "cross_source_overlap"),
            "`cross_source_overlap` needs `keys` or `key_expr`, and only one of them",
        )


def _quarantine(checks: Checks, kind: str, at: Keys) -> Iterator[Problem]:
    settings = checks.quarantine
    if not settings.enabled:
        return
    place = (*at, "quarantine")
    if kind != "quality":
        yield Problem(
            place,
            f"a {kind} pipeline puts no rows into quarantine",
            'do it in a pipeline of type "quality" that reads its tables',
        )
        return
    if not any(each.type in ABOUT_ROWS and each.severity == "error" for each in checks.assertions):
        yield Problem(
            place,
            "no assertion says which rows to put into quarantine",
            "add one about rows, like `not_null`, of severity `error`",
        )
    suffixes = (settings.suffix_valid, settings.suffix_quarantine)
    if settings.mode != "tag" and ("" in suffixes or suffixes[0].lower() == suffixes[1].lower()):
        yield Problem(place, "the suffixes of quarantine must be there and differ")


def _is_on(setting: bool | Toggle) -> bool:  # noqa: FBT001 - a setting's value
    return setting if isinstance(setting, bool) else setting.enabled


def find_dependency_circles(pipelines: Mapping[str, PipelineSetting]) -> Iterator[Problem]:
    """A problem for each `depends_on` that closes a circle, told once."""
    for circle in find_circles({name: each.depends_on for name, each in pipelines.items()}):
        message = f"pipelines form a cycle: {circle.text}"
        if circle.names[0] == circle.owner:
            message = f"pipeline `{circle.owner}` depends on itself"
        keys = ("pipeline", circle.owner, "depends_on", circle.entry)
        yield Problem(keys, message, "remove one of these names from `depends_on`")

"""What a model's sidecar or front matter may say, and the defaults of a folder.

Absent parts are None or empty. `ModelSettings` after loading is resolved: folder defaults
are merged in and `strategy` is never None.
"""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, NamedTuple

from rocky.project.assertions import Assertion
from rocky.project.lint_levels import NO_LEVELS, LintLevels
from rocky.project.rules import Amount, NonNegative, Written
from rocky.project.strategies import StrategySetting

CheckSeverity = Literal["error", "warning"]
Retention = Annotated[str, Written(re.compile(r"[1-9][0-9]*[dy]"), "like `90d` or `1y`")]


class TargetSetting(NamedTuple):
    """The parts of a table's full name that are set here."""

    catalog: str | None = None
    schema: str | None = None
    table: str | None = None


class FolderTarget(NamedTuple):
    """The parts of a target that a whole folder can share."""

    catalog: str | None = None
    schema: str | None = None


class Freshness(NamedTuple):
    """How old a table may be. The two spellings of the lag mean the same."""

    expected_lag_seconds: NonNegative | None = None
    max_lag_seconds: NonNegative | None = None
    time_column: str | None = None
    severity: CheckSeverity | None = None


class Budget(NamedTuple):
    """Ceilings; None is no ceiling."""

    max_usd: Amount | None = None
    max_duration_ms: NonNegative | None = None
    max_bytes_scanned: NonNegative | None = None
    on_breach: Literal["warn", "error"] | None = None


class ColumnSetting(NamedTuple):
    """What is written about an output column."""

    description: str | None = None


class Skip(NamedTuple):
    """What the author knows about skipping: None leaves it to the compiler."""

    eligible: bool | None = None
    deterministic: bool | None = None


class Store(NamedTuple):
    """How the table's files are written."""

    canonical: bool | Literal["auto"] = "auto"


class TableName(NamedTuple):
    """A table the model reads, named in full."""

    catalog: str
    schema: str
    table: str


class ModelGovernance(NamedTuple):
    """Tags the engine's catalogue gets."""

    tags: Mapping[str, str] = {}


class FormatOptions(NamedTuple):
    """Options of the table's format."""

    partition_by: tuple[str, ...] = ()
    cluster_by: tuple[str, ...] = ()
    table_properties: Mapping[str, str] | tuple[tuple[str, ...], ...] = {}
    comment: str | None = None


class Given(NamedTuple):
    """Rows of one input of a unit test."""

    ref: str
    rows: tuple[Mapping[str, Any], ...] = ()


class Expected(NamedTuple):
    """Rows a unit test wants back."""

    rows: tuple[Mapping[str, Any], ...] = ()
    ordered: bool = False


class UnitTest(NamedTuple):
    """Inputs and the result the model must give for them."""

    name: str
    description: str | None = None
    given: tuple[Given, ...] = ()
    expect: Expected = Expected()


Format = Literal[
    "table", "delta_table", "iceberg_table", "view", "materialized_view", "streaming_table"
]


class ModelSettings(NamedTuple):
    """Everything a sidecar can say about its model. `inputs` and `output` are a Python model's."""

    name: str | None = None
    depends_on: tuple[str, ...] = ()
    strategy: StrategySetting | None = None
    target: TargetSetting = TargetSetting()
    sources: tuple[TableName, ...] = ()
    adapter: str | None = None
    intent: str | None = None
    freshness: Freshness | None = None
    tests: tuple[Assertion, ...] = ()
    test: tuple[UnitTest, ...] = ()
    format: Format | None = None
    format_options: FormatOptions | None = None
    classification: Mapping[str, str] = {}
    tags: Mapping[str, str] = {}
    governance: ModelGovernance | None = None
    retention: Retention | None = None
    budget: Budget | None = None
    skip: Skip | None = None
    store: Store | None = None
    columns: Mapping[str, ColumnSetting] = {}
    lints: LintLevels = NO_LEVELS
    inputs: Mapping[str, str] = {}
    output: tuple[Any, ...] = ()


class FolderDefaults(NamedTuple):
    """What a `_defaults.toml` can say for its folder and those below it."""

    target: FolderTarget = FolderTarget()
    strategy: StrategySetting | None = None
    intent: str | None = None
    freshness: Freshness | None = None
    tags: Mapping[str, str] = {}
    lints: LintLevels = NO_LEVELS


NO_DEFAULTS: Final = FolderDefaults()


def merge_defaults(outer: FolderDefaults, inner: FolderDefaults) -> FolderDefaults:
    """The defaults of a folder inside another: the inner one wins, key by key."""
    return FolderDefaults(
        FolderTarget(
            inner.target.catalog or outer.target.catalog, inner.target.schema or outer.target.schema
        ),
        inner.strategy or outer.strategy,
        inner.intent or outer.intent,
        merge_freshness(outer.freshness, inner.freshness),
        {**outer.tags, **inner.tags},
        {**outer.lints, **inner.lints},
    )


def merge_freshness(outer: Freshness | None, inner: Freshness | None) -> Freshness | None:
    """Field by field; a lag in either spelling replaces the outer lag."""
    if outer is None or inner is None:
        return inner or outer
    lag = inner if inner[:2] != (None, None) else outer
    return Freshness(
        lag.expected_lag_seconds,
        lag.max_lag_seconds,
        inner.time_column or outer.time_column,
        inner.severity or outer.severity,
    )

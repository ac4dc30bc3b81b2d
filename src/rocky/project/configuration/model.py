"""What a model's sidecar or front matter may say, and the defaults of a folder.

Absent parts are None or empty. `ModelSettings` after loading is resolved: folder defaults are
merged in and `strategy` is never None. Data checks (`[[tests]]`) are only read here; `type` decides
which other keys one must have. A lint level names a code; saying one of a finding on which Spark
itself would fail is reported.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, NamedTuple

from rocky.diagnostics import BY_CODE, REGISTRY, Code
from rocky.diagnostics.codes import FORMER
from rocky.diagnostics.suggestion import suggestion
from rocky.project.configuration.classifications import (
    NO_COLUMN_TAGS,
    ColumnTags,
    Declassification,
    merge_tags,
)
from rocky.project.configuration.dialects import Allowed
from rocky.project.configuration.freshness import Freshness
from rocky.project.configuration.kept_rows import KeptFor
from rocky.project.configuration.labels import NO_META, NO_TAGS, Meta, Tags
from rocky.project.configuration.paths import CatalogName, FolderName
from rocky.project.configuration.strategies import StrategySetting
from rocky.project.toml.documents import (
    Amount,
    NonNegative,
    Problem,
    Problems,
    ReadBy,
    Refusal,
    refuses,
)
from rocky.project.toml.records import INVALID, reader_for, unknown_key, wrong_type
from rocky.project.toml.variables import Keys

Level = Literal["allow", "warn", "error"]

_BY_NAME: Final[dict[str, Code]] = {
    **{former: row.code for former, row in FORMER.items()},
    **{row.name: row.code for row in REGISTRY},
    **{row.code.value.lower(): row.code for row in REGISTRY},
}

_ADJUSTABLE: Final = [
    name for row in REGISTRY if row.suppressible for name in (row.code.value, row.name)
]


def _read_levels(value: Any, at: Keys, problems: Problems) -> Any:
    if not isinstance(value, dict):
        return wrong_type('a table such as `P002 = "allow"`', value, at, problems)
    levels: dict[Code, Level] = {}
    read_level = reader_for(Level)
    for key, wanted in value.items():
        here = (*at, key)
        code = _BY_NAME.get(key.lower())
        if code is None:
            near = suggestion(key, _ADJUSTABLE)
            problems.append(Problem(here, f"`{key}` is not a lint", near, True))
            continue
        level = read_level(wanted, here, problems)
        if level is INVALID:
            continue
        if level != "error" and not BY_CODE[code].suppressible:
            problems.append(_not_adjustable(code, here))
        else:
            levels[code] = level
    return levels


def _not_adjustable(code: Code, at: Keys) -> Problem:
    return Problem(
        at,
        f"`{code}` ({BY_CODE[code].name}) is always an error",
        "only findings on which Spark would not fail have a level",
        True,
    )


NO_LEVELS: Final[Mapping[Code, Level]] = {}
LintLevels = Annotated[
    Mapping[Code, Level], ReadBy(_read_levels, "table of levels by code or name")
]


Kind = Literal[
    "not_null",
    "unique",
    "accepted_values",
    "relationships",
    "expression",
    "row_count_range",
    "in_range",
    "regex_match",
    "aggregate",
    "composite",
    "unique_expr",
    "not_in_future",
    "older_than_n_days",
]
Comparison = Literal["lt", "lte", "gt", "gte", "eq", "ne", "<", "<=", ">", ">=", "=", "==", "!="]

# By kind: the keys it must have, then those it may have.
_KEYS: Final[dict[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "not_null": (("column",), ()),
    "unique": (("column",), ()),
    "accepted_values": (("column", "values"), ()),
    "relationships": (("column", "to_table", "to_column"), ()),
    "expression": (("expression",), ("column",)),
    "row_count_range": ((), ("min", "max")),
    "in_range": (("column",), ("min", "max")),
    "regex_match": (("column", "pattern"), ()),
    "aggregate": (("column", "op", "cmp", "value"), ()),
    "composite": (("columns",), ("kind",)),
    "unique_expr": (("key_expr",), ()),
    "not_in_future": (("column",), ()),
    "older_than_n_days": (("column", "days"), ()),
}
ABOUT_ROWS: Final = frozenset(
    {
        "not_null",
        "accepted_values",
        "expression",
        "in_range",
        "regex_match",
        "not_in_future",
        "older_than_n_days",
    }
)
"""The kinds that one row alone decides, so that failing rows can be put aside."""
_SHARED: Final = frozenset({"type", "use", "name", "description", "table", "severity", "filter"})


class AssertionRecord(NamedTuple):
    """A check of one kind; only the keys of that kind are set.

    `use` is the name of a test in `rocky.toml` that it begins from.
    """

    type: Kind
    column: str | None = None
    name: str | None = None
    description: str | None = None
    table: str | None = None
    severity: Literal["error", "warning"] = "error"
    filter: str | None = None
    values: tuple[Any, ...] = ()
    to_table: str | None = None
    to_column: str | None = None
    expression: str | None = None
    min: float | str | None = None
    max: float | str | None = None
    pattern: str | None = None
    op: Literal["sum", "count", "avg", "min", "max"] | None = None
    cmp: Comparison | None = None
    value: float | str | None = None
    kind: Literal["unique"] = "unique"
    columns: tuple[str, ...] = ()
    key_expr: str | None = None
    days: NonNegative | None = None
    use: str | None = None

    @property
    def called(self) -> str:
        """Its own name, or its type and what it looks at."""
        if self.name is not None:
            return self.name
        about = self.column or ",".join(self.columns)
        return f"{self.type}:{about}" if about else self.type


def _read_assertion(value: Any, at: Keys, problems: Problems) -> Any:
    read = reader_for(AssertionRecord)(value, at, problems)
    if read is INVALID:
        return INVALID
    must, may = _KEYS[read.type]
    problems.extend(
        Problem(at, f"an assertion of type `{read.type}` needs `{key}`")
        for key in must
        if key not in value
    )
    if "min" in may and "min" not in value and "max" not in value:
        problems.append(Problem(at, f"an assertion of type `{read.type}` needs `min` or `max`"))
    known = {*_SHARED, *must, *may}
    problems.extend(
        unknown_key(key, known, (*at, key))
        for key in value
        if key not in known and key in AssertionRecord._fields
    )
    return read


Assertion = Annotated[AssertionRecord, ReadBy(_read_assertion)]


CheckSeverity = Literal["error", "warning"]


class TargetSetting(NamedTuple):
    """The parts of a table's full name that are set here."""

    catalog: CatalogName | None = None
    schema: FolderName | None = None
    table: FolderName | None = None


class FolderTarget(NamedTuple):
    """The parts of a target that a whole folder can share."""

    catalog: CatalogName | None = None
    schema: FolderName | None = None


class Budget(NamedTuple):
    """Limits of a run or a model; without one there is no limit."""

    max_usd: Amount | None = None
    max_duration_ms: NonNegative | None = None
    max_bytes_scanned: NonNegative | None = None
    on_breach: Literal["warn", "error"] | None = None


class ColumnSetting(NamedTuple):
    """What is written about an output column."""

    description: str | None = None


class ModelPortability(NamedTuple):
    """What the model may use although the targets of `[portability]` read it otherwise."""

    allow: Allowed = ()


class Skip(NamedTuple):
    """What the author says about reuse; otherwise the compiler decides."""

    eligible: bool | None = None
    deterministic: bool | None = None


class Store(NamedTuple):
    """How the table's files are written."""

    canonical: bool | Literal["auto"] = "auto"


@refuses(
    table_properties=Refusal("tables are written without properties of your own", "remove it"),
    comment=Refusal(
        "a table's comment is the model's description",
        "use `description` in the model's settings",
    ),
)
class FormatOptions(NamedTuple):
    """Options of the table's format."""

    partition_by: tuple[str, ...] = ()
    cluster_by: tuple[str, ...] = ()


class Given(NamedTuple):
    """Rows of one input of a unit test."""

    ref: str
    rows: tuple[Mapping[str, Any], ...] = ()


class Expected(NamedTuple):
    """Rows a unit test wants back."""

    rows: tuple[Mapping[str, Any], ...] = ()
    ordered: bool = False


class SurrogateKey(NamedTuple):
    """A column that is added to a model's output: a hash of the columns that make up a key."""

    name: str
    columns: tuple[str, ...]


class UnitTest(NamedTuple):
    """Inputs and the result the model must give for them."""

    name: str
    given: tuple[Given, ...] = ()
    expect: Expected = Expected()
    description: str | None = None


@refuses(
    materialized=Refusal(
        "how a table is brought up to date is its strategy",
        'write `strategy = "view"`, or a block `[strategy]` with `type = "incremental"`;'
        " a table that is built as a whole needs neither",
    ),
    unique_key=Refusal(
        "it is a key of the strategy",
        'write a block `[strategy]` with `type = "merge"` and `unique_key = ["..."]`',
    ),
    partition_by=Refusal(
        "it is a key of the table's format", "write it in a block `[format_options]`"
    ),
    schema=Refusal("it is a key of the target", 'write `schema = "..."` in a block `[target]`'),
    sources=Refusal("Rocky finds what a model reads in its query", "remove it"),
    format=Refusal(
        "every table is a Delta table",
        "remove it; `iceberg = true` in `[adapter]` makes Iceberg tables of them as well, and"
        ' `strategy = "view"` makes a view',
    ),
    governance=Refusal(
        "Rocky does not pass tags to a catalogue",
        "use `tags`, which selectors and `rocky cost` know",
        later=True,
    ),
)
class ModelSettings(NamedTuple):
    """Everything a sidecar can say about its model. `inputs` and `output` are a Python model's.

    `intent` says what a model is for; it is its description unless it has one. `retention` says how
    long rows are kept, as `90d` or `2y`: `rocky retention` deletes older ones.
    """

    name: FolderName | None = None
    depends_on: tuple[str, ...] = ()
    strategy: StrategySetting | None = None
    target: TargetSetting = TargetSetting()
    adapter: str | None = None
    description: str | None = None
    owner: str | None = None
    intent: str | None = None
    tests: tuple[Assertion, ...] = ()
    test: tuple[UnitTest, ...] = ()
    format_options: FormatOptions | None = None
    classification: ColumnTags = NO_COLUMN_TAGS
    declassify: tuple[Declassification, ...] = ()
    tags: Tags = NO_TAGS
    meta: Meta = NO_META
    budget: Budget | None = None
    skip: Skip | None = None
    store: Store | None = None
    columns: Mapping[str, ColumnSetting] = {}
    lints: LintLevels = NO_LEVELS
    portability: ModelPortability | None = None
    inputs: Mapping[str, str] = {}
    output: tuple[Any, ...] = ()
    surrogate_key: tuple[SurrogateKey, ...] = ()
    group: str | None = None
    freshness: Freshness | None = None
    retention: KeptFor | None = None


class FolderDefaults(NamedTuple):
    """Defaults: a `_defaults.toml` has them for its folder and below, a group for its models."""

    target: FolderTarget = FolderTarget()
    strategy: StrategySetting | None = None
    intent: str | None = None
    owner: str | None = None
    tags: Tags = NO_TAGS
    meta: Meta = NO_META
    lints: LintLevels = NO_LEVELS
    freshness: Freshness | None = None
    classification: ColumnTags = NO_COLUMN_TAGS


NO_DEFAULTS: Final = FolderDefaults()


def merge_defaults(outer: FolderDefaults, inner: FolderDefaults) -> FolderDefaults:
    """The defaults of a folder inside another: the inner one wins, key by key.

    Of classifications none is lost: the tags of both hold.
    """
    return FolderDefaults(
        FolderTarget(
            inner.target.catalog or outer.target.catalog, inner.target.schema or outer.target.schema
        ),
        inner.strategy or outer.strategy,
        inner.intent or outer.intent,
        inner.owner or outer.owner,
        {**outer.tags, **inner.tags},
        {**outer.meta, **inner.meta},
        {**outer.lints, **inner.lints},
        inner.freshness or outer.freshness,
        merge_tags(outer.classification, inner.classification),
    )

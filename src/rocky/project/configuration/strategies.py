"""How a model's table is brought up to date: one record a strategy.

An ephemeral model leaves nothing behind: its target is a name no table will have.
"""

from typing import Annotated, Final, Literal, NamedTuple, get_args

from rocky.language.datatypes import types as t
from rocky.language.datatypes.types import StructField
from rocky.project.toml.documents import NonNegative, Positive, Refusal, Tagged, refuses

Grain = Literal["hour", "day", "month", "year"]

NullTime = Literal["fail", "run_time"]
"""What to do with a row that does not say when it was changed."""

WHOLE_STRATEGIES: Final = frozenset(
    {"full_refresh", "materialized_view", "content_addressed", "seed"}
)
"""As records name them, the strategies that write all rows of their table anew."""


class FullRefresh(NamedTuple):
    """The whole table is replaced."""

    type: str = "full_refresh"


@refuses(
    unique_key=Refusal(
        "an incremental table is only appended to",
        'rows are replaced by their key with `type = "merge"`',
    )
)
class Incremental(NamedTuple):
    """Rows past the highest `timestamp_column` seen so far are appended."""

    timestamp_column: str
    type: str = "incremental"


class Merge(NamedTuple):
    """Rows are matched by `unique_key`; without `update_columns` every column is updated."""

    unique_key: tuple[str, ...]
    update_columns: tuple[str, ...] | None = None
    type: str = "merge"


class TimeInterval(NamedTuple):
    """One partition per `granularity` of `time_column`, bounded by `@start_date`, `@end_date`."""

    time_column: str
    granularity: Grain
    lookback: NonNegative = 0
    batch_size: Positive = 1
    first_partition: str | None = None
    type: str = "time_interval"


class Microbatch(NamedTuple):
    """Append in batches of one `granularity` of `timestamp_column`."""

    timestamp_column: str
    granularity: Grain = "hour"
    type: str = "microbatch"


class DeleteInsert(NamedTuple):
    """Partitions that the result touches are replaced as a whole."""

    partition_by: tuple[str, ...]
    type: str = "delete_insert"


class Snapshot(NamedTuple):
    """Every version of a row is kept: `unique_key` identifies a row, `updated_at` dates it.

    Without `updated_at` a row has changed when any of its columns has. A row whose `updated_at` is
    null fails the model, or with `null_updated_at = "run_time"` is dated by the run. Rows that are
    gone stay current unless `invalidate_hard_deletes` is set.
    """

    unique_key: tuple[str, ...]
    updated_at: str | None = None
    invalidate_hard_deletes: bool = False
    null_updated_at: NullTime = "fail"
    type: str = "snapshot"


HISTORY_FIELDS: Final = (
    StructField("valid_from", t.TIMESTAMP, nullable=False),
    StructField("valid_to", t.TIMESTAMP, nullable=True),
    StructField("is_current", t.BOOLEAN, nullable=False),
    StructField("snapshot_id", t.STRING, nullable=False),
)
"""The columns a snapshot's table has after those of its query."""
HISTORY_COLUMNS: Final = tuple(each.name for each in HISTORY_FIELDS)
"""Their names."""

NOTES_THE_TIME: Final = "volatile: the snapshot notes when it first saw a row"
"""Why a snapshot without `updated_at` does not repeat, unless it is told the same time again."""


class Append(NamedTuple):
    """The rows of some files are added, each file once: `files` are the hashes of their bytes.

    They were new to the table at version `since`; -1 where there was none. Only pipelines have it:
    in the settings of a model it would add all rows with every run.
    """

    files: tuple[str, ...]
    since: int = -1
    type: str = "append"


class Ephemeral(NamedTuple):
    """No table: readers get the query itself."""

    type: str = "ephemeral"


class View(NamedTuple):
    """A view over the query."""

    type: str = "view"


class MaterializedView(NamedTuple):
    """A stored result the engine keeps up to date."""

    type: str = "materialized_view"


@refuses(
    storage_prefix=Refusal(
        "files are named by their bytes in their table's folder", "set `warehouse` in `[adapter]`"
    )
)
class ContentAddressed(NamedTuple):
    """A full refresh with its own partition columns.

    `storage_prefix` cannot be set: it is here because recorded recipes have it.
    """

    storage_prefix: None = None
    partition_columns: tuple[str, ...] = ()
    type: str = "content_addressed"


_Named = (
    FullRefresh
    | Incremental
    | Merge
    | TimeInterval
    | Microbatch
    | DeleteInsert
    | Snapshot
    | Ephemeral
    | View
    | MaterializedView
    | ContentAddressed
)

Strategy = _Named | Append

STRATEGIES: Final = get_args(_Named)
"""Those that settings can name."""

RECORDED_STRATEGIES: Final = get_args(Strategy)
"""Those that a table can have been made by."""

StrategySetting = Annotated[Strategy, Tagged(STRATEGIES, noun="strategy")]


def has_target(strategy: Strategy) -> bool:
    """Whether a run leaves a table or a view at the model's target."""
    return not isinstance(strategy, Ephemeral)


def replaces_all(strategy: Strategy) -> bool:
    """Whether the table depends on nothing but what the model reads: no row of it is kept."""
    return isinstance(strategy, FullRefresh | ContentAddressed | MaterializedView)


def is_inline(strategy: Strategy) -> bool:
    """Whether readers get the query itself, as a view, because there is no table of its rows."""
    return isinstance(strategy, Ephemeral | View)


def query_width(strategy: Strategy, columns: int) -> int:
    """How many of a model's columns its query gives: the strategy adds the others."""
    return columns - len(HISTORY_COLUMNS) if isinstance(strategy, Snapshot) else columns

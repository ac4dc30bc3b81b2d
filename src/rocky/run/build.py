"""A build: everything a strategy needs to bring one table up to date, and what it did.

A strategy is a function `Build -> Built`. It composes SQL over bound views, writes with the engine
and makes one commit a change; it never touches the ledger.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol

from rocky.datatypes.types import StructField
from rocky.project.strategies import Strategy
from rocky.run.engine import Engine
from rocky.spark.layout import Layout
from rocky.store.change import Committed
from rocky.store.warehouse import Table


@dataclass(frozen=True, slots=True)
class Window:
    """Which time intervals of a time-interval model to build. At most one way is set.

    `recorded` are keys of partitions that the ledger says are computed.
    """

    start: str | None = None
    end: str | None = None
    partition: str | None = None
    latest: bool = False
    missing: bool = False
    lookback: int | None = None
    recorded: frozenset[str] = frozenset()


NO_WINDOW: Final = Window()


class BuiltModel(Protocol):
    """What a strategy asks of a model, be it a file of the project or a record of one.

    `text` is what a Python model is run from; `path` says where it stood.
    """

    @property
    def name(self) -> str: ...
    @property
    def path(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def strategy(self) -> Strategy: ...


@dataclass(frozen=True, slots=True)
class Build:
    """One model to build.

    `query` is the author's SQL with every table name bound to a view, or None for a Python model,
    which is called with `python_inputs` (parameter name -> view). `columns` are the compiled output
    columns. `info` is for commitInfo, beside what `vouch` says of the ledger at that moment.
    `token` is equal in every attempt of this model in this run and different elsewhere: the
    transaction id of appends. `view` is a prefix no other build uses.
    """

    model: BuiltModel
    columns: tuple[StructField, ...]
    table: Table
    query: str | None
    engine: Engine
    layout: Layout
    info: Mapping[str, str]
    token: str
    view: str
    now: datetime
    full_refresh: bool = False
    window: Window = NO_WINDOW
    python_inputs: Mapping[str, str] | None = None
    vouch: Callable[[], Mapping[str, str]] = dict

    @property
    def commit_info(self) -> Mapping[str, str]:
        """What the next commit says of itself."""
        return {**self.info, **self.vouch()}


@dataclass(frozen=True, slots=True)
class BuiltPartition:
    """A time interval that was built."""

    key: str
    rows: int
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Built:
    """What a build did. `commits` is empty when there was nothing to do.

    `rows` counts rows written. `sql` is the text handed to Spark, whose hash the ledger keeps.
    """

    sql: str
    commits: tuple[Committed, ...]
    rows: int
    rows_hash: str | None
    action: str
    watermark: str | None = None
    partitions: tuple[BuiltPartition, ...] = ()

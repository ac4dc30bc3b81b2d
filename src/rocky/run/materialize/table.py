"""The way in: a build is handed to the strategy its model asks for.

Views and ephemeral models have no table: the runner binds their queries as views for their readers
(`rocky.project.strategies.is_inline`), so they never come here.
"""

from typing import assert_never

from rocky.errors import InternalError
from rocky.project.strategies import (
    Append,
    ContentAddressed,
    DeleteInsert,
    Ephemeral,
    FullRefresh,
    Incremental,
    MaterializedView,
    Merge,
    Microbatch,
    Snapshot,
    TimeInterval,
    View,
)
from rocky.run.build import Build, Built
from rocky.run.materialize.append import append_files
from rocky.run.materialize.delete_insert import delete_insert
from rocky.run.materialize.full_refresh import full_refresh
from rocky.run.materialize.incremental import incremental
from rocky.run.materialize.merge import merge
from rocky.run.materialize.microbatch import microbatch
from rocky.run.materialize.snapshot import snapshot
from rocky.run.materialize.time_interval import time_interval


def materialize(build: Build) -> Built:
    """Bring the table of a model up to date.

    Raises ConcurrentChange when somebody else changed the table meanwhile: then the whole build is
    to be done again, from the table as it is now.
    """
    strategy = build.model.strategy
    match strategy:
        case FullRefresh() | ContentAddressed() | MaterializedView():
            return full_refresh(build)
        case Incremental():
            return incremental(build, strategy)
        case Microbatch():
            return microbatch(build, strategy)
        case Merge():
            return merge(build, strategy)
        case DeleteInsert():
            return delete_insert(build)
        case TimeInterval():
            return time_interval(build, strategy)
        case Snapshot():
            return snapshot(build, strategy)
        case Append():
            return append_files(build, strategy)
        case View() | Ephemeral():
            message = f"model `{build.model.name}` has no table: it is bound as a view"
            raise InternalError(message)
        case _:
            assert_never(strategy)

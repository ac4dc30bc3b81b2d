"""Frames on the caller's own session: what a notebook works on with `spark` beside it.

No view is left in that session, and none is needed later; declared functions stay. A frame carries
all that it reads, on Spark Connect too, where a name would be looked up only when rows are asked
for. The session keeps its own settings: nothing of `[adapter.conf]` is applied to it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rocky.project.configuration.blocks import Adapter
from rocky.project.functions import ProjectFunction
from rocky.run.engine.protocol import Frame
from rocky.run.engine.spark import SparkEngine, SparkViews
from rocky.spark.connection import borrow_session, function_mode
from rocky.spark.functions import NO_FUNCTIONS
from rocky.spark.session import check_object_store
from rocky.spark.settings import refuse_substitution


@dataclass(frozen=True, slots=True)
class FrameViews(SparkViews):
    """Views that are no more than frames by their names."""

    frames: dict[str, Any] = field(default_factory=dict, repr=False)

    def bind_frame(self, view: str, frame: Frame) -> None:
        self.frames[view] = frame

    def frame_of(self, view: str) -> Frame:
        return self.frames[view]

    def unbind(self, views: Sequence[str]) -> None:
        for view in views:
            self.frames.pop(view, None)


class FrameEngine(SparkEngine):
    """Spark as it is asked for frames."""

    def _views(self, root: Path, options: Mapping[str, str]) -> FrameViews:
        self._frames: dict[str, Frame] = {}
        return FrameViews(self._session, root, options, self._frames)

    def frame(self, sql: str) -> Frame:
        """The query over frames, each in place of the view it is bound to."""
        refuse_substitution(self._session, sql)
        self._functions.make_named(sql)
        used = {view: frame for view, frame in self._frames.items() if view in sql}
        if not used:
            return self._session.sql(sql)
        # Spark's way to hand over frames formats the text: braces of the author's are doubled.
        text = sql.replace("{", "{{").replace("}", "}}")
        views = "|".join(map(re.escape, used))
        return self._session.sql(re.sub(rf"(`?)\b({views})\b\1", r"{\2}", text), **used)


@contextmanager
def open_frame_engine(
    adapter: Adapter,
    root: Path,
    spark: Any,
    functions: Mapping[str, ProjectFunction] = NO_FUNCTIONS,
) -> Iterator[FrameEngine]:
    """The caller's session itself, for frames. Raises SparkUnavailable for another version.

    Functions that a query calls stay in that session: on Spark Connect they are looked up by name
    when rows are asked for.
    """
    connection = borrow_session(spark)
    check_object_store(connection.session, adapter.warehouse)
    with function_mode(connect=connection.kind == "connect"):
        yield FrameEngine(connection, root, adapter.conf, functions)

"""Call sites: which call of the author's Python made a relation or an expression.

PySpark's own client notes file and line, of columns only. Here every part of a plan notes the
exact range of its call, as Python's positions have it, in the field that PySpark sends to Spark
for the same purpose. The client's classes are patched while plans are built and put back after.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from itertools import islice
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final

import pyspark
from pyspark.sql.connect import expressions, plan, proto

from rocky.project import call_places

Site = call_places.Site

_FOREIGN: Final = (str(Path(pyspark.__file__).parent), str(Path(__file__).parent))
_SEPARATOR: Final = "\x1f"


def encode_site(site: Site) -> str:
    """The text that travels in a plan."""
    return _SEPARATOR.join(str(each) for each in site)


@lru_cache(maxsize=4096)
def decode_site(text: str) -> Site | None:
    """The site that `encode_site` wrote; None for what PySpark itself writes there."""
    parts = text.split(_SEPARATOR)
    if len(parts) != len(Site._fields):
        return None
    return Site(parts[0], *(int(each) for each in parts[1:]))


def author_site() -> Site | None:
    """The innermost call in code that is neither PySpark's nor ours."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - the one way to a call's position
    while frame is not None and frame.f_code.co_filename.startswith(_FOREIGN):
        frame = frame.f_back
    if frame is None:
        return None
    # Two codes of the same text are equal, whichever files they are of.
    return _site_of(frame.f_code.co_filename, frame.f_code, frame.f_lasti)


@lru_cache(maxsize=4096)
def _site_of(path: str, code: CodeType, instruction: int) -> Site:
    found = next(islice(code.co_positions(), instruction // 2, None), (None,) * 4)
    line, end_line, column, end_column = (each or 0 for each in found)
    return Site(path, line, column, end_line, end_column)


@contextmanager
def noted_sites() -> Iterator[None]:
    """While open, every part of a plan that is made knows the call that made it."""
    of_expression = expressions.Expression.__init__
    of_plan = plan.LogicalPlan.__init__
    relation = plan.LogicalPlan._create_proto_relation  # noqa: SLF001 - where a relation gets its id

    def init_expression(self: Any) -> None:
        self.origin = _origin()

    def init_plan(self: Any, *given: Any, **named: Any) -> None:
        of_plan(self, *given, **named)
        self._rocky_origin = _origin()

    def create_relation(self: Any) -> Any:
        made = relation(self)
        origin = getattr(self, "_rocky_origin", None)
        if origin is not None:
            made.common.origin.CopyFrom(origin)
        return made

    expressions.Expression.__init__ = init_expression
    plan.LogicalPlan.__init__ = init_plan
    plan.LogicalPlan._create_proto_relation = create_relation  # noqa: SLF001
    try:
        yield
    finally:
        expressions.Expression.__init__ = of_expression
        plan.LogicalPlan.__init__ = of_plan
        plan.LogicalPlan._create_proto_relation = relation  # noqa: SLF001


def _origin() -> Any:
    site = author_site()
    if site is None:
        return None
    return _origin_of(site)


@lru_cache(maxsize=4096)
def _origin_of(site: Site) -> Any:
    return proto.Origin(python_origin=proto.PythonOrigin(fragment="", call_site=encode_site(site)))


def site_of(message: Any) -> Site | None:
    """The site of a relation or an expression of a plan."""
    return decode_site(message.common.origin.python_origin.call_site)

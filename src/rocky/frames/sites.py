"""Call sites: which call of the author's Python made a relation or an expression.

PySpark's own client notes file and line, of columns only. Here every part of a plan notes the
exact range of its call, as Python's positions have it, in the field that PySpark sends to Spark
for the same purpose. The client's classes are patched while plans are built and put back after.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final

import pyspark
from pyspark.sql.connect import expressions, plan, proto

from rocky.project import call_places

Site = call_places.Site
Position = tuple[int | None, int | None, int | None, int | None]

_FOREIGN: Final = (str(Path(pyspark.__file__).parent), str(Path(__file__).parent))
_SITES: Final[dict[str, Site]] = {}
"""The sites that plans of this process name, by the text that travels in them."""
_ORIGINS: Final[dict[Site, Any]] = {}
_POSITIONS: Final[dict[int, tuple[CodeType, list[Position]]]] = {}
"""The positions in code that is being run, by its identity: to hash or compare code is slow."""


def author_site() -> Site | None:
    """The innermost call in code that is neither PySpark's nor ours."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - the one way to a call's position
    while frame is not None and frame.f_code.co_filename.startswith(_FOREIGN):
        frame = frame.f_back
    if frame is None:
        return None
    code, at = frame.f_code, frame.f_lasti // 2
    known = _POSITIONS.get(id(code))
    if known is None:
        known = _POSITIONS[id(code)] = code, list(code.co_positions())
    line, end_line, column, end_column = known[1][at] if at < len(known[1]) else (None,) * 4
    return Site(code.co_filename, line or 0, column or 0, end_line or 0, end_column or 0)


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
        _POSITIONS.clear()


def _origin() -> Any:
    site = author_site()
    if site is None:
        return None
    made = _ORIGINS.get(site)
    if made is None:
        text = f"\x1f{len(_SITES)}"
        _SITES[text] = site
        made = proto.Origin(python_origin=proto.PythonOrigin(fragment="", call_site=text))
        _ORIGINS[site] = made
    return made


def site_of(message: Any) -> Site | None:
    """The site of a relation or an expression; None for what PySpark itself notes of one."""
    return _SITES.get(message.common.origin.python_origin.call_site)

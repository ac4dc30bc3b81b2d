"""Places of failures: where in a query, or in which lines of Python, Spark says something failed.

An expression of SQL knows its query and its place there, by code points; one made through the
DataFrame API the line that made it. The classic API has all that in the JVM, wrapped in causes;
Connect sends it along. What a Python worker raised is a traceback in the text.
"""

import re
import traceback
from collections.abc import Iterator
from typing import Any, Final

from py4j.java_gateway import JavaObject
from py4j.protocol import Py4JError

from rocky.spark.interface import CodePlace, QueryPlace

_UNASKABLE: Final = (Py4JError, OSError, AttributeError, TypeError, ValueError)
"""What asking a JVM may raise that is gone, or an exception that knows no places."""
_CAUSES: Final = 10
_FRAME: Final = re.compile(
    r'^\s*File "(?P<file>[^"\n]+)", line (?P<line>\d+), in [^\n]*\n'
    r"(?:    (?P<text>[^\n]*)\n(?:    (?P<marks>[ ~^]*\^[ ~^]*)\n)?)?",
    re.MULTILINE,
)
_CALL_SITE: Final = re.compile(r"^(?P<file>.+):(?P<line>\d+)$")


def find_places(
    failure: BaseException, text: str
) -> tuple[QueryPlace | None, tuple[CodePlace, ...]]:
    """The place in a query and the lines of Python of a failure; `text` is all that it says."""
    query: QueryPlace | None = None
    code = list(find_frames(failure))
    for context in _contexts(failure):
        found = _place_of(context)
        if isinstance(found, QueryPlace):
            query = query or found
        elif found is not None:
            code.append(found)
    return query, (*code, *_frames_in(text))


def find_frames(failure: BaseException) -> Iterator[CodePlace]:
    """The lines of this process that an exception came through, the outermost first."""
    for frame in traceback.extract_tb(failure.__traceback__):
        yield CodePlace(frame.filename, frame.lineno or 1)


def _frames_in(text: str) -> Iterator[CodePlace]:
    """The frames of a Python traceback in a text; its lines are printed without indentation."""
    for found in _FRAME.finditer(text):
        marks = found["marks"]
        start = None if marks is None else len(marks) - len(marks.lstrip())
        end = None if marks is None else len(marks.rstrip())
        yield CodePlace(found["file"], int(found["line"]), start, end)


def _contexts(failure: BaseException) -> Iterator[Any]:
    """What Spark knows of the places of a failure and of its causes, the outermost first."""
    asked = getattr(failure, "getQueryContext", None)
    try:
        found = list(asked()) if asked is not None else []
    except _UNASKABLE:
        return
    yield from found
    if found:
        return
    cause = getattr(failure, "java_exception", None)
    for _ in range(_CAUSES):
        if not isinstance(cause, JavaObject):
            return
        yield from _asked(cause)
        try:
            cause = cause.getCause()
        except _UNASKABLE:
            return


def _asked(cause: Any) -> list[Any]:
    try:
        return list(cause.getQueryContext())
    except _UNASKABLE:
        # Not one of Spark's own.
        return []


def _place_of(context: Any) -> QueryPlace | CodePlace | None:
    try:
        if "SQL" not in str(context.contextType()):
            site = _CALL_SITE.match(context.callSite().strip())
            return CodePlace(site["file"], int(site["line"])) if site is not None else None
        start, stop = context.startIndex(), context.stopIndex()
        if not 0 <= start <= stop:
            return None
        return QueryPlace(start, stop + 1, context.fragment(), _text_of(context))
    except _UNASKABLE:
        return None


def _text_of(context: Any) -> str | None:
    """The whole query, which only the JVM's own object knows."""
    try:
        inner = context if isinstance(context, JavaObject) else context._q  # noqa: SLF001
        text = inner.sqlText()
        return str(text.get()) if text.isDefined() else None
    except _UNASKABLE:
        return None

"""A built frame as a plan: the SQL of it with places, in values that can be kept.

Paths are those of the project, so that a plan holds wherever the same files lie.
"""

import os
import re
import traceback
from collections.abc import Callable
from typing import Any, NamedTuple

from pyspark.errors import PySparkAttributeError

from rocky.analysis.python_plans import PlanFinding, PlanFunction, PlanNote, PythonPlan
from rocky.diagnostics.diagnostic import SourceText, Span
from rocky.diagnostics.suggestion import suggestion
from rocky.frames.frame_check import Frames, LoweredPlan, is_frame
from rocky.frames.lowering import UNKNOWN
from rocky.frames.plan_frames import plan_frames
from rocky.frames.session import NeedsRows, relation_of
from rocky.language.datatypes.text import encode_type
from rocky.language.declared_functions import DeclaredFunction
from rocky.project.call_places import CallPlaces, Site


class PlanPlaces:
    """Places of files of one project; `texts` are of files that the disk may not have as they are.

    Files outside the project have none.
    """

    def __init__(self, root: str, texts: dict[str, str]) -> None:
        self.root = root
        self._texts = texts
        self._places = CallPlaces(texts)

    def inside(self, path: str | None) -> str | None:
        """A path as the project writes it; None for one outside."""
        if path is None or not path.startswith(self.root + os.sep):
            return None
        return path[len(self.root) + 1 :].replace(os.sep, "/")

    def note(self, text: str, site: Site | None) -> PlanNote:
        path, span = self._span(site, text)
        return PlanNote(text, path, span)

    def finding(self, each: Any) -> PlanFinding:
        path, span = self._span(each.site, each.message)
        return PlanFinding(each.code.value, each.message, path, span, each.condition, each.help)

    def raised(self, error: BaseException) -> PlanNote:
        """What an author's code raised, at the innermost line that is the author's."""
        text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        column = _missing_column(error)
        if column is not None:
            advice = suggestion(column.name, column.others)
            text = f"no column `{column.name}`" + (f"; {advice}" if advice else "")
        own = [
            each
            for each in traceback.extract_tb(error.__traceback__)
            if self.inside(each.filename) is not None
        ]
        if not own:
            return PlanNote(text)
        last = own[-1]
        span = self._line(last.filename, last.lineno)
        if column is not None and span is not None:
            span = self._attribute(last.filename, span, column.name)
        return PlanNote(text, self.inside(last.filename), span)

    def _attribute(self, path: str, line: tuple[int, int], name: str) -> tuple[int, int]:
        """The place of an attribute in a line, if it stands there once."""
        text = self._texts.get(path, "")
        found = [each.span(1) for each in re.finditer(rf"\.\s*({name})\b", text[slice(*line)])]
        return (line[0] + found[0][0], line[0] + found[0][1]) if len(found) == 1 else line

    def _line(self, path: str, line: int | None) -> tuple[int, int] | None:
        text = self._texts.get(path)
        if text is None:
            try:
                with open(path, encoding="utf-8") as file:  # noqa: PTH123 - as the audit hook sees it
                    text = file.read()
            except (OSError, UnicodeDecodeError):
                return None
        source = SourceText(path, text)
        if line is None or not 1 <= line <= len(source.line_starts):
            return None
        whole = source.line_span(line)
        own = text[whole.start : whole.end]
        return whole.end - len(own.lstrip()), whole.end

    def _span(self, site: Site | None, about: str) -> tuple[str | None, tuple[int, int] | None]:
        found, span = self._places.span(site, about)
        path = self.inside(found)
        return path, (span.start, span.end) if path is not None and isinstance(span, Span) else None


class _MissingColumn(NamedTuple):
    """A column that code asked a frame for as an attribute, and those that there are."""

    name: str
    others: list[str]


def _missing_column(error: BaseException) -> _MissingColumn | None:
    if not isinstance(error, PySparkAttributeError):
        return None
    if error.getCondition() != "ATTRIBUTE_NOT_SUPPORTED" or error.__traceback__ is None:
        return None
    *_, (last, _) = traceback.walk_tb(error.__traceback__)
    frame: Any = last.f_locals.get("self")
    name = last.f_locals.get("name")
    if not is_frame(frame) or not isinstance(name, str):
        return None
    return _MissingColumn(name, list(frame.columns))


def build_plan(
    make: Callable[[], Any], frames: Frames, places: PlanPlaces, *, with_frames: bool = False
) -> PythonPlan:
    """The plan of the frame that some code makes; if asked for, with what each call gives."""
    NeedsRows.latest = None
    try:
        made = make()
        caught: NeedsRows | None = NeedsRows.latest
        if caught is not None:
            return PythonPlan(needs_rows=places.note(caught.what, caught.site))
        if not is_frame(made):
            kind = type(made).__name__
            return PythonPlan(failure=PlanNote(f"returns `{kind}`, which is no DataFrame"))
        relation = relation_of(made, frames.session) if with_frames else None
        return _plan_of(frames.lowered(made), relation, places)
    except NeedsRows as stopped:
        return PythonPlan(needs_rows=places.note(stopped.what, stopped.site))
    except BaseException as error:  # noqa: BLE001 - whatever the author's code raises is told
        return PythonPlan(failure=places.raised(error))


def _plan_of(lowered: LoweredPlan, relation: Any, places: PlanPlaces) -> PythonPlan:
    text, lowering = lowered.text, lowered.lowering
    numbers: dict[Site, int] = {}
    at = [-1 if each is None else numbers.setdefault(each, len(numbers)) for each in text.sites]
    listed = plan_frames(lowered, relation, numbers) if relation is not None else []
    code = lowering.tables.functions
    unsure = [key for key, each in code.items() if not each.digest and each.name != UNKNOWN]
    return PythonPlan(
        text.text,
        list(text.starts),
        at,
        [(places.inside(path) or "", *rest) for path, *rest in numbers],  # type: ignore[misc]
        [_function(key, each) for key, each in code.items()],
        [places.finding(each) for each in lowering.findings],
        [places.note(each.reason, each.site) for each in lowering.gaps],
        doubt=f"what `{unsure[0]}` is made of" if unsure else None,
        frames=listed,
        unknown=[each.name for each in lowering.tables.layers.values() if each.body is None],
    )


def _function(key: str, function: DeclaredFunction) -> PlanFunction:
    columns, returns = function.columns, function.returns
    return PlanFunction(
        key,
        function.name,
        encode_type(returns) if returns is not None else None,
        [(each.name, encode_type(each.type), each.nullable) for each in columns]
        if columns is not None
        else None,
        function.aggregate,
        function.deterministic,
        function.digest,
    )

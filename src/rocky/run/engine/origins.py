"""Origins of queries: which model's SQL a text that Spark ran was made of, and what stood where.

What runs is the author's query with its table names bound and the ends of an interval filled in;
strategies build on views over it, never on its text. So a place in it is one in the author's file.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from rocky.diagnostics.diagnostic import Span
from rocky.language.replacements import Replaced
from rocky.language.syntax.references import find_filled
from rocky.project import ModelFile
from rocky.spark.interface import QueryPlace


@dataclass(frozen=True, slots=True)
class QueryOrigin:
    """A query of a model with its table names bound; `sql` is what they were bound in.

    That is the model's own SQL, or that with its interval filled in before.
    """

    model: ModelFile
    sql: str
    bound: Replaced

    def locate(self, place: QueryPlace) -> Span | None:
        """A place in what Spark ran as a span of the model's SQL; None if it ran another query."""
        span = Span(place.start, place.end)
        if place.sql is None:
            if self.bound.text[span.start : span.end] != place.fragment:
                return None
        else:
            filled = find_filled(self.bound.text, place.sql)
            if filled is None:
                return None
            span = filled.written(span)
        span = self.bound.written(span)
        before = find_filled(self.model.sql, self.sql)
        return None if before is None else before.written(span)


def locate_place(
    place: QueryPlace, origins: Iterable[QueryOrigin]
) -> tuple[ModelFile, Span] | None:
    """The model and the span of its SQL that a place is in; the first that it can be."""
    for each in origins:
        span = each.locate(place)
        if span is not None:
            return each.model, span
    return None

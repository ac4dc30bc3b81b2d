"""Scope: what the names in an expression of a plan mean, over the layers that it reads.

Only names that SQL could not tell apart are worked out here: columns of a frame (`df["x"]`), of an
alias that a layer below gave, and of two columns with one name. All others are left to the binder.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from rocky.diagnostics import Code
from rocky.diagnostics.suggestion import closest
from rocky.frames.column_identity import Meaning
from rocky.frames.fragments import Fragment, sql
from rocky.frames.layers import Found, Layer, find_by_plan, split_attribute, written
from rocky.frames.lowering import Finding, Lowering
from rocky.frames.plan_messages import messages_in
from rocky.frames.sites import Site
from rocky.language.syntax.expression_texts import read_expression
from rocky.language.syntax.parser import SyntaxProblem

SIDE_UNSURE: Final = (
    "a column of a frame that is joined with itself, of which Spark may take either side's;"
    " give each side an alias"
)


@dataclass(frozen=True, slots=True)
class Scope:
    """The layers that an expression sees, each with the alias it has in the query."""

    lowering: Lowering
    inputs: tuple[tuple[Layer, str], ...]

    @property
    def source(self) -> Fragment:
        """FROM, for asking the binder about a value over all inputs."""
        return sql(" FROM " + ", ".join(f"{layer.name} AS {name}" for layer, name in self.inputs))

    @property
    def names(self) -> list[str]:
        """The names of what is read, by which a subquery knows it."""
        return [each for layer, alias in self.inputs for each in (layer.name, alias)]

    def reference(self, at: int, column: int) -> str:
        """A column of an input in SQL."""
        layer, alias = self.inputs[at]
        name = written(layer.columns[column].sql)
        return name if len(self.inputs) == 1 else f"{alias}.{name}"

    def attribute(self, text: str, plan_id: int | None, site: Site | None) -> Fragment:
        """A column by its name, of a frame where `plan_id` says which."""
        try:
            parts = split_attribute(text)
        except ValueError:
            return self.mistake(
                Code.SYNTAX_ERROR,
                f"`{text}` is not the name of a column",
                site,
                "INVALID_ATTRIBUTE_NAME_SYNTAX",
            )
        if plan_id is not None:
            return self._of_frame(parts, plan_id, site)
        meant = self.meaning(parts, site) or self._outside(parts, site)
        return meant if meant is not None else sql(".".join(map(written, parts)), site=site)

    def meaning(self, parts: Sequence[str], site: Site | None) -> Fragment | None:
        """What a name means that SQL would not find, or find twice; None where SQL knows."""
        for end in range(len(parts), 1, -1):
            places = [
                (at, column)
                for at, (layer, _) in enumerate(self.inputs)
                for column in layer.qualified(parts[:end])
            ]
            if places:
                return self._one_of(places, parts[:end], parts[end:], site)
        places = [
            (at, column)
            for at, (layer, _) in enumerate(self.inputs)
            for column in layer.named(parts[0])
        ]
        layers = {at for at, _ in places}
        if len(places) > len(layers) or any(self._renamed(*each) for each in places):
            return self._one_of(places, parts[:1], parts[1:], site)
        return None

    def _outside(self, parts: Sequence[str], site: Site | None) -> Fragment | None:
        """A column of the row around a subquery, where none of its own has the name."""
        around = self.lowering.around
        inside = any(not layer.known or layer.named(parts[0]) for layer, _ in self.inputs)
        while around is not None and not inside:
            found = around.scope.qualified_reference(parts, site)
            if found is not None:
                return found
            around = around.around
        return None

    def qualified_reference(self, parts: Sequence[str], site: Site | None) -> Fragment | None:
        """A column as a subquery names it; None where there is no such one."""
        for end in (*range(len(parts), 1, -1), 1):
            places = [
                (at, column)
                for at, (layer, _) in enumerate(self.inputs)
                for column in (layer.qualified(parts[:end]) if end > 1 else layer.named(parts[0]))
            ]
            if places:
                return self._one_of(places, parts[:end], parts[end:], site, outside=True)
        return None

    def text(self, given: str, site: Site | None) -> tuple[Fragment, str | None, bool]:
        """The SQL of an expression text, its alias, and whether it may be several columns."""
        read = read_expression(given)
        if isinstance(read, SyntaxProblem):
            bad = self.mistake(Code.SYNTAX_ERROR, read.message, site, read.condition, read.help)
            return bad, None, False
        body = given[: read.body.end]
        if read.reads:
            return sql(body, site=site), read.alias, read.star
        parts: list[str | Fragment] = []
        at = 0
        for name, span in sorted(read.columns, key=lambda each: each[1]):
            meant = self.meaning(name, site) or self._outside(name, site)
            if meant is not None and span.start >= at and span.end <= len(body):
                parts += [body[at : span.start], meant]
                at = span.end
        return sql(*parts, body[at:], site=site), read.alias, read.star

    def mistake(
        self,
        code: Code,
        message: str,
        site: Site | None,
        condition: str | None,
        help: str | None = None,  # noqa: A002 - the diagnostic's own word
        name: str | None = None,
    ) -> Fragment:
        """Report a mistake; an unknown takes its place, under a name where it has one."""
        finding = Finding(code, message, site, help, condition)
        if finding not in self.lowering.findings:
            self.lowering.findings.append(finding)
        return self.lowering.unknown_value(site, name)

    def of_side(self, at: int, name: str, site: Site | None) -> Fragment:
        """The column of one input that has a name."""
        places = [(at, column) for column in self.inputs[at][0].named(name)]
        return self._one_of(places, [name], [], site)

    def _renamed(self, at: int, column: int) -> bool:
        found = self.inputs[at][0].columns[column]
        return found.sql != found.name

    def _one_of(
        self,
        places: list[tuple[int, int]],
        name: Sequence[str],
        fields: Sequence[str],
        site: Site | None,
        *,
        outside: bool = False,
    ) -> Fragment:
        if len(places) > 1:
            shown = ".".join(name)
            return self.mistake(
                Code.AMBIGUOUS_COLUMN,
                f"`{shown}` is the name of {len(places)} columns here",
                site,
                "AMBIGUOUS_REFERENCE",
                'take it from one frame (`orders["id"]`), or drop or rename the other one',
                [*name, *fields][-1],
            )
        column = self.reference(*places[0])
        if outside and len(self.inputs) == 1:
            column = f"{self.inputs[0][0].name}.{column}"
        return sql(".".join([column, *map(written, fields)]), site=site)

    def _of_frame(self, parts: list[str], plan_id: int, site: Site | None) -> Fragment:
        best: Found | None = None
        where: list[tuple[int, int]] = []
        for at, (layer, _) in enumerate(self.inputs):
            found = find_by_plan(layer, plan_id, parts[0])
            if not found.seen:
                continue
            nearer = best is None or not best.places or found.depth < best.depth
            if best is None or (found.places and nearer):
                best, where = found, [(at, column) for column in found.places]
            elif found.places and found.depth == best.depth:
                where += [(at, column) for column in found.places]
        if best is None:
            outer = self._frame_outside(parts, plan_id, site)
            if outer is not None:
                return outer
            if not all(layer.complete for layer, _ in self.inputs):
                return self.lowering.unknown_value(site, parts[-1])
            return self.mistake(
                Code.UNKNOWN_COLUMN,
                f"`{parts[0]}` is a column of a frame that this one is not made from",
                site,
                "CANNOT_RESOLVE_DATAFRAME_COLUMN",
                f'take it by its name: `F.col("{parts[0]}")`',
                parts[-1],
            )
        layers = [layer for layer, _ in self.inputs]
        meant = self.lowering.self_joins.look(layers, best.frame, plan_id, parts[0])
        if meant.meaning is Meaning.AMBIGUOUS:
            return self.mistake(
                Code.AMBIGUOUS_COLUMN,
                f"`{parts[0]}` of that frame is on both sides of a join of frames with one origin",
                site,
                "_LEGACY_ERROR_TEMP_1182",
                f'give each side an alias, `orders.alias("o")`, and take `F.col("o.{parts[0]}")`',
            )
        if meant.meaning is Meaning.UNSURE:
            self.lowering.gap(SIDE_UNSURE, site)
            return self.lowering.unknown_value(site)
        if meant.place is not None:
            where = [meant.place]
        if not where:
            return self._lost(parts, best, site)
        return self._one_of(where, parts[:1], parts[1:], site)

    def _frame_outside(self, parts: list[str], plan_id: int, site: Site | None) -> Fragment | None:
        around = self.lowering.around
        while around is not None:
            scope = around.scope
            for at, (layer, _) in enumerate(scope.inputs):
                places = find_by_plan(layer, plan_id, parts[0]).places
                if places:
                    where = [(at, column) for column in places]
                    found: Fragment = scope._one_of(where, parts[:1], parts[1:], site, outside=True)  # noqa: SLF001
                    return found
            around = around.around
        return None

    def _lost(self, parts: list[str], best: Found, site: Site | None) -> Fragment:
        frame = best.frame
        named = frame.named(parts[0]) if frame is not None else []
        whole = all(layer.complete for layer, _ in self.inputs)
        if frame is None or not frame.known or (named and not whole):
            return self.lowering.unknown_value(site, parts[-1])
        if named:
            return self.mistake(
                Code.UNKNOWN_COLUMN,
                f"`{parts[0]}` of that frame is not among the columns here",
                site,
                "MISSING_ATTRIBUTES.RESOLVED_ATTRIBUTE_APPEAR_IN_OPERATION",
                f'take the column that is here: `F.col("{parts[0]}")`',
                parts[-1],
            )
        if len(parts) > 1 and frame.qualified(parts[:2]):
            return self.lowering.unknown_value(site, parts[-1])
        names = [each.name for each in frame.visible]
        near = closest(parts[0], names)
        return self.mistake(
            Code.UNKNOWN_COLUMN,
            f"no column `{parts[0]}` in that frame",
            site,
            "UNRESOLVED_COLUMN.WITH_SUGGESTION",
            f"there is a column `{near}`" if near else None,
            parts[-1],
        )


def over(lowering: Lowering, *layers: Layer) -> Scope:
    """The scope of an expression over layers; two of one name get aliases that differ."""
    named: list[tuple[Layer, str]] = []
    for each in layers:
        alias = each.name if all(alias != each.name for _, alias in named) else f"{each.name}_2"
        named.append((each, alias.replace(".", "_").replace("`", "")))
    return Scope(lowering, tuple(named))


def attributes_of(message: Any) -> list[Any]:
    """Every column and every text in an expression."""
    found: list[Any] = []
    stack = [message]
    while stack:
        each = stack.pop()
        kind = each.DESCRIPTOR.name
        if kind in ("UnresolvedAttribute", "ExpressionString"):
            found.append(each)
            continue
        stack.extend(messages_in(each))
    return found

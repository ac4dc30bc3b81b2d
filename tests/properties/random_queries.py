"""Random queries over the shop: mostly well typed, now and then with a mistake in them.

Everything hangs on the seed: `random_query(7)` is the same text in every run, so a failure names
a number that gives the query back.
"""

import random
import re
from dataclasses import dataclass

from rocky.language.datatypes.text import parse_schema
from rocky.language.datatypes.types import ArrayType, DataType, MapType, StructType, is_numeric
from tests.corpus.questions import shop_tables
from tests.properties.leaf_templates import AGGREGATES, LITERALS, WINDOWS
from tests.properties.scalar_templates import SCALARS

_HOLE = re.compile(r"\{(\w+)\}")
_FAMILY_OF_KIND = {
    "string": "text",
    "boolean": "truth",
    "date": "day",
    "timestamp": "moment",
    "timestamp_ntz": "moment",
}


@dataclass(frozen=True, slots=True)
class Source:
    """Something to select from: its text after FROM, and the columns by family."""

    sql: str
    columns: tuple[tuple[str, str], ...]

    def of(self, family: str) -> list[str]:
        return [name for name, kind in self.columns if kind == family]


@dataclass(frozen=True, slots=True)
class Made:
    """A query and the families of its columns, which are called c1, c2 and so on."""

    sql: str
    families: tuple[str, ...]


def random_query(seed: int, mistakes: float = 0.01) -> str:
    """The query of a seed. `mistakes` is the chance that an operand is of another family."""
    return _Maker(random.Random(seed), mistakes).query(2).sql


def _family(kind: DataType) -> str | None:
    if is_numeric(kind):
        return "number"
    if isinstance(kind, ArrayType):
        return {"number": "numbers", "text": "texts"}.get(_family(kind.element) or "")
    if isinstance(kind, MapType):
        return "dictionary" if kind.value.kind == "string" else None
    if kind.kind.startswith("interval day"):
        return "span"
    return _FAMILY_OF_KIND.get(kind.kind)


def _columns_of(name: str, kind: DataType) -> list[tuple[str, str]]:
    if isinstance(kind, StructType):
        return [
            found
            for field in kind.fields
            for found in _columns_of(f"{name}.{_quoted(field.name)}", field.type)
        ]
    family = _family(kind)
    return [(name, family)] if family else []


def _quoted(name: str) -> str:
    return name if name.isidentifier() and name.isascii() and name != "select" else f"`{name}`"


_TABLES = {
    table: tuple(
        column
        for field in parse_schema(ddl)
        for column in _columns_of(_quoted(field.name), field.type)
    )
    for table, ddl in shop_tables().items()
}


def _has(source: Source, key: str) -> bool:
    return sum(name.endswith(f".{key}") for name, _ in source.columns) == 1


class _Maker:
    """Makes one query; aliases are numbered so that no two in a query are alike."""

    def __init__(self, chance: random.Random, mistakes: float) -> None:
        self.chance = chance
        self.mistakes = mistakes
        self.aliases = 0

    def query(self, depth: int) -> Made:
        shapes = [self.plain, self.plain, self.plain, self.windowed, self.grouped, self.grouped]
        shapes += [self.aliased, self.pivoted]
        if depth > 0:
            shapes += [self.combined, self.with_cte]
        return self.chance.choice(shapes)(depth)

    # ---------------------------------------------------------------- shapes

    def plain(self, depth: int) -> Made:
        source = self.source(depth)
        families = self.families(list(SCALARS))
        items = [self.expression(family, source, 2) for family in families]
        return Made(self.select(items, source) + self.tail(len(items)), families)

    def aliased(self, depth: int) -> Made:
        """Later columns read earlier ones by their alias."""
        source = self.source(depth)
        families = self.families(list(SCALARS))
        items: list[str] = []
        for family in families:
            aliases = tuple((f"c{at}", found) for at, found in enumerate(families[: len(items)], 1))
            seen = Source(source.sql, source.columns + aliases * 3)
            items.append(self.expression(family, seen, 2))
        return Made(self.select(items, source), families)

    def pivoted(self, depth: int) -> Made:
        source = self.source(depth)
        families = ("number", "text", "number")
        items = [self.expression(family, source, 1) for family in families]
        # Spark folds the cast of 'a' to the column's type, and may fail over its value.
        items[1] = f"CAST({items[1]} AS STRING)"
        inner = self.select(items, source)
        aggregate = self.chance.choice(("sum(c1)", "max(c1) AS top", "count(c1)", "avg(c1 + 1)"))
        sql = f"SELECT c3, x + 1 AS c2, y AS c4 FROM ({inner}) PIVOT ({aggregate} FOR c2 IN ('a' AS x, 'b' AS y))"
        return Made(f"SELECT c3 AS c1, c2, c4 AS c3 FROM ({sql})", ("number", "number", "number"))

    def windowed(self, depth: int) -> Made:
        source = self.source(depth)
        families = self.families(list(WINDOWS))
        items = [
            self.fill(self.chance.choice(WINDOWS[family]), source, 1)
            if self.chance.random() < 0.7
            else self.expression(family, source, 1)
            for family in families
        ]
        return Made(self.select(items, source) + self.tail(len(items)), families)

    def grouped(self, depth: int) -> Made:
        source = self.source(depth)
        keys = [
            self.expression(family, source, self.chance.choice((0, 0, 1)))
            for family in self.families(["number", "text", "truth", "day"], most=2)
        ]
        families = self.families(list(AGGREGATES))
        items = [self.fill(self.chance.choice(AGGREGATES[each]), source, 1) for each in families]
        numbers = tuple(range(1, len(keys) + 1))
        key_list = ", ".join(map(str, numbers))
        grouping = self.chance.choice(
            (
                key_list,
                key_list,
                "ALL",
                ", ".join(keys),
                f"ROLLUP ({key_list})",
                f"CUBE ({key_list})",
            )
        )
        having = " HAVING count(*) > 1" if self.chance.random() < 0.2 else ""
        sql = self.select([*keys, *items], source) + f" GROUP BY {grouping}{having}"
        return Made(sql, tuple(self.unknown_families(len(keys))) + families)

    def combined(self, depth: int) -> Made:
        families = self.families(list(SCALARS))
        branches = []
        for _ in range(self.chance.choice((2, 2, 3))):
            source = self.source(depth - 1)
            items = [self.expression(family, source, 1) for family in families]
            branches.append(self.select(items, source))
        operators = ("UNION ALL", "UNION ALL", "UNION", "INTERSECT", "EXCEPT")
        sql = branches[0]
        for branch in branches[1:]:
            sql += f" {self.chance.choice(operators)} {branch}"
        return Made(sql, families)

    def with_cte(self, depth: int) -> Made:
        name = self.alias()
        inner = self.query(depth - 1)
        source = self.joined(Source(name, self.columns_of(name, inner)), depth - 1)
        families = self.families(list(SCALARS))
        items = [self.expression(family, source, 1) for family in families]
        return Made(f"WITH {name} AS ({inner.sql}) {self.select(items, source)}", families)

    # ---------------------------------------------------------------- clauses

    def select(self, items: list[str], source: Source) -> str:
        names = ", ".join(f"{item} AS c{at}" for at, item in enumerate(items, start=1))
        where = ""
        if self.chance.random() < 0.3:
            where = f" WHERE {self.expression('truth', source, 1)}"
        return f"SELECT {names} FROM {source.sql}{where}"

    def tail(self, width: int) -> str:
        roll = self.chance.random()
        if roll < 0.15:
            return f" ORDER BY {self.chance.randint(1, width)} DESC NULLS LAST"
        return " LIMIT 10" if roll < 0.25 else ""

    def source(self, depth: int) -> Source:
        if depth > 0 and self.chance.random() < 0.3:
            alias = self.alias()
            inner = self.query(depth - 1)
            return Source(f"({inner.sql}) {alias}", self.columns_of(alias, inner))
        if self.chance.random() < 0.1:
            return self.exploded()
        first = self.table()
        return self.joined(first, depth) if self.chance.random() < 0.5 else first

    def joined(self, first: Source, depth: int) -> Source:
        if depth < 0 or self.chance.random() < 0.3:
            return first
        second = self.table()
        both = first.columns + second.columns
        kind = self.chance.choice(
            ("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "CROSS JOIN", "LEFT SEMI JOIN")
        )
        if kind == "CROSS JOIN":
            return Source(f"{first.sql} CROSS JOIN {second.sql}", both)
        shared = [
            key for key in ("customer_id", "order_id") if _has(first, key) and _has(second, key)
        ]
        if shared and self.chance.random() < 0.5:
            return Source(f"{first.sql} {kind} {second.sql} USING ({shared[0]})", both)
        left = self.column("number", first) or "1"
        right = self.column("number", second) or "1"
        sql = f"{first.sql} {kind} {second.sql} ON {left} = {right}"
        return Source(sql, first.columns if kind == "LEFT SEMI JOIN" else both)

    def exploded(self) -> Source:
        """A table with one of its arrays or maps turned into rows."""
        table = self.table()
        alias = self.alias()
        outer = self.chance.choice(("", "OUTER "))
        arrays = [("numbers", "number"), ("texts", "text")]
        family, element = self.chance.choice(arrays)
        array = self.column(family, table) or self.chance.choice(LITERALS[family])
        view = f"LATERAL VIEW {outer}explode({array}) {alias} AS item_{alias}"
        return Source(f"{table.sql} {view}", (*table.columns, (f"{alias}.item_{alias}", element)))

    def table(self) -> Source:
        name = self.chance.choice(list(_TABLES))
        alias = self.alias()
        columns = tuple((f"{alias}.{column}", family) for column, family in _TABLES[name])
        return Source(f"{name} {alias}", columns)

    # ---------------------------------------------------------------- expressions

    def expression(self, family: str, source: Source, depth: int) -> str:
        if self.chance.random() < self.mistakes:
            family = self.chance.choice(list(SCALARS))
        if depth <= 0 or self.chance.random() < 0.25:
            return self.leaf(family, source)
        return self.fill(self.chance.choice(SCALARS[family]), source, depth - 1)

    def fill(self, template: str, source: Source, depth: int) -> str:
        return _HOLE.sub(lambda hole: self.expression(hole[1], source, depth), template)

    def leaf(self, family: str, source: Source) -> str:
        column = self.column(family, source)
        if column is None or self.chance.random() < 0.15:
            return self.chance.choice(LITERALS[family])
        return column

    def column(self, family: str, source: Source) -> str | None:
        names = source.of(family)
        return self.chance.choice(names) if names else None

    # ---------------------------------------------------------------- choices

    def families(self, among: list[str], most: int = 5) -> tuple[str, ...]:
        return tuple(self.chance.choice(among) for _ in range(self.chance.randint(1, most)))

    def unknown_families(self, count: int) -> list[str]:
        """Families for columns nobody reads: group keys keep their own."""
        return ["unread"] * count

    def columns_of(self, alias: str, made: Made) -> tuple[tuple[str, str], ...]:
        return tuple((f"{alias}.c{at}", family) for at, family in enumerate(made.families, start=1))

    def alias(self) -> str:
        self.aliases += 1
        return f"t{self.aliases}"

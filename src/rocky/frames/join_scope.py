"""The scope of a join: which names a query over it may use as they stand.

A join is a layer of its own, with a name in SQL for each column, because two columns may have one
name. A person writes `FROM orders JOIN customers USING (customer_id)` and goes on in one query,
where names are looked up among the columns of both tables. That is the same query as long as no
name in it is one of two columns there, or one that only the layer has.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from rocky.frames.fragments import Fragment, sql
from rocky.frames.layers import written
from rocky.language.names import split_name

_HARMLESS: Final = re.compile(r"count\(\*\)| \* ", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class JoinScope:
    """What a query over a join sees.

    `starred` tells that a star gives the columns of the layer. `taken` are names, in lower case,
    that mean another column here than in the layer, or none. `tables` are the names of its tables,
    `listed` the columns of the layer in full, and `references` each of them by its table.
    """

    starred: bool
    taken: frozenset[str]
    tables: frozenset[str]
    listed: Fragment
    references: Mapping[str, str]

    def admits(self, listed: str, *others: str) -> bool:
        """Whether a query over the layer says the same over the tables."""
        if listed != "*" and not self.starred and "*" in _HARMLESS.sub("", listed):
            return False
        text = " ".join((listed, *others)).lower()
        # A column of a struct could pass for one of a table.
        tables = (rf"{re.escape(each)}`?\s*\." for each in self.tables)
        names = (rf"{re.escape(each)}(?!\w)" for each in self.taken)
        return not any(re.search(rf"(?<!\w){each}", text) for each in (*tables, *names))

    def reference(self, name: str) -> str:
        """A column of the layer by its table; nothing where it has none."""
        return self.references.get(name, "")

    def over(self, below: "JoinScope", name: str) -> "JoinScope | None":
        """The scope where the join below, a layer of that name, is part of the same query."""
        made = self._moved(name, below.reference, starred=self.starred and below.starred)
        others = self.tables - {name}
        if made is None or others & below.tables:
            return None
        return replace(made, taken=self.taken | below.taken, tables=others | below.tables)

    def over_table(self, name: str, table: str, alias: str) -> "JoinScope | None":
        """The scope where a table, with an alias, has the place of the layer of that name."""
        made = self._moved(name, lambda each: f"{alias}.{each}", starred=self.starred)
        others, own = self.tables - {name}, frozenset({_last_part(table), alias.lower()})
        return None if made is None or others & own else replace(made, tables=others | own)

    def unqualified(self, text: str) -> str:
        """The text without columns that are named by their tables."""
        tables = "|".join(map(re.escape, self.tables))
        return re.sub(rf"(?<!\w)(?:{tables})\.(?:`[^`]+`|\w+)", "", text, flags=re.IGNORECASE)

    def _moved(
        self, name: str, reference: Callable[[str], str], *, starred: bool
    ) -> "JoinScope | None":
        listed = follow(self.listed, name, reference) or (sql("*") if starred else None)
        if listed is None:
            return None
        start = f"{name}."
        references = {
            own: reference(each.removeprefix(start)) if each.startswith(start) else each
            for own, each in self.references.items()
        }
        return replace(self, starred=starred, listed=listed, references=references)


def follow(fragment: Fragment, name: str, reference: Callable[[str], str]) -> Fragment | None:
    """SQL over a layer of that name as SQL over what it was made from; None where that cannot be.

    `reference` is a column of the layer as it is there, or nothing.
    """
    pattern = re.compile(rf"(?<!\w){re.escape(name)}\.(`[^`]+`|\w+)")
    pieces = []
    for text, site in fragment.pieces:
        found = pattern.findall(text)
        # In a literal it would be no reference.
        if found and ("'" in text or any(not reference(each) for each in found)):
            return None
        pieces.append((pattern.sub(lambda match: reference(match[1]), text), site))
    return Fragment(tuple(pieces), fragment.level)


def scope_of_join(
    names: Sequence[str],
    columns: Sequence[tuple[str, str]],
    tables: Sequence[str],
    listed: Fragment,
) -> JoinScope:
    """The scope of a join whose star gives `names`.

    `columns` are those of its layer, each by its name in SQL and by its table, if it has one there.
    """
    count = Counter(each.lower() for each in names)
    own = {name.lower() for name, _ in columns}
    taken = {name for name, number in count.items() if number > 1} | (own - count.keys())
    return JoinScope(
        list(names) == [name for name, _ in columns],
        frozenset(taken),
        frozenset(_last_part(each) for each in tables),
        listed,
        {written(name): reference for name, reference in columns if reference},
    )


def _last_part(table: str) -> str:
    return split_name(table)[-1].lower()

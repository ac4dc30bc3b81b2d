"""Lowering: the tree of a `.rocky` text -> Spark SQL in its pipe syntax, step by step.

A step becomes a `|>` of the same meaning, in the order it was written, so no step has to be moved,
merged or put into a subquery, and a place in the SQL leads back to the step it came from.
"""

from collections.abc import Callable, Sequence
from typing import Final

from rocky.diagnostics.diagnostic import Span
from rocky.language.dsl.mapped_text import MappedText, MappedWriter
from rocky.language.dsl.pipelines import parse_text
from rocky.language.dsl.tokens import Problem, Token, Unreadable
from rocky.language.dsl.tree import Node
from rocky.language.dsl.values import ValueWriter, sql_name

_JOINS: Final = {
    "join": "JOIN",
    "inner": "JOIN",
    "left": "LEFT JOIN",
    "right": "RIGHT JOIN",
    "full": "FULL JOIN",
    "cross": "CROSS JOIN",
    "semi": "LEFT SEMI JOIN",
    "anti": "LEFT ANTI JOIN",
}


def lower_text(text: str) -> MappedText | Problem:
    """A `.rocky` text as Spark SQL, or why it is none."""
    tree = parse_text(text)
    if isinstance(tree, Problem):
        return tree
    try:
        return _Lowering().lower_file(tree)
    except Unreadable as unreadable:
        return unreadable.problem


class _Lowering:
    """One text in the making."""

    def __init__(self) -> None:
        self._writer = MappedWriter()
        self._values = ValueWriter(self._writer, self._write_nested)
        self._indent = ""
        self._steps: dict[str, Callable[[Node], None]] = {
            "where": self._where,
            "derive": self._entries,
            "set": self._entries,
            "drop": self._drop,
            "group": self._group,
            "select": self._select,
            "sort": self._sort,
            "take": self._take,
            "distinct": lambda step: self._open("SELECT DISTINCT *", step),
            **dict.fromkeys(("union", "intersect", "except"), self._combine),
        }

    def lower_file(self, tree: Node) -> MappedText:
        *bindings, pipeline = tree.nodes
        for index, binding in enumerate(bindings):
            word, name, *_ = binding.parts
            assert isinstance(word, Token)
            assert isinstance(name, Token)
            self._writer.write("WITH " if not index else ",\n", word.span)
            self._values.write_name(name)
            self._writer.glue(" AS (")
            self._write_nested(binding.nodes[0])
            self._writer.glue(")")
        if bindings:
            self._writer.glue("\n")
        self._write_pipeline(pipeline)
        self._writer.glue("\n")
        return self._writer.finish()

    def _write_nested(self, pipeline: Node) -> None:
        """A pipeline on lines of its own, deeper by one level."""
        outer, self._indent = self._indent, self._indent + "  "
        self._line()
        self._write_pipeline(pipeline)
        self._indent = outer
        self._line()

    def _line(self) -> None:
        self._writer.glue(f"\n{self._indent}")

    def _write_pipeline(self, pipeline: Node) -> None:
        first, *steps = pipeline.nodes
        word = first.parts[0]
        assert isinstance(word, Token)
        if steps and steps[0].words == ["replicate"]:
            self._writer.write("SELECT * ", steps[0].span)
            steps = []
        self._writer.write("FROM ", word.span)
        self._source(first.nodes[0])
        for step in steps:
            opening = step.words[0]
            self._steps.get(opening, self._join)(step)

    def _source(self, source: Node) -> None:
        relation = source.nodes[0]
        if relation.form == "subquery":
            self._writer.glue("(")
            self._write_nested(relation.nodes[0])
            self._writer.glue(")")
        else:
            self._values.write(relation)
        if len(source.parts) > 1:
            name = source.parts[-1]
            assert isinstance(name, Token)
            self._writer.glue(" AS ")
            self._values.write_name(name)

    def _open(self, words: str, step: Node) -> None:
        """Begin a step; its words stand for those of the author."""
        tokens = [part for part in step.parts if isinstance(part, Token)]
        self._line()
        self._writer.write(f"|> {words}", tokens[0].span)

    def _where(self, step: Node) -> None:
        self._open("WHERE ", step)
        self._values.write(step.nodes[0])

    def _entries(self, step: Node) -> None:
        """`derive` and `set`: an entry that uses one before it begins a step of its own."""
        derives = step.words[0] == "derive"
        opening = "EXTEND " if derives else "SET "
        before: set[str] = set()
        for index, entry in enumerate(step.nodes[0].nodes):
            name = entry.parts[0]
            assert isinstance(name, Token)
            if not index or before & _columns_in(entry.nodes[0]):
                self._open(opening, step)
                before = set()
            else:
                self._writer.glue(f",\n{self._indent}     ")
            before.add(_plain(name))
            if derives:
                self._entry(entry)
            else:
                self._values.write_name(name)
                self._writer.glue(" = ")
                self._values.write(entry.nodes[0])

    def _entry(self, entry: Node) -> None:
        """`name: expression` as `expression AS name`; a column as it is."""
        self._values.write(entry.nodes[0])
        name = entry.parts[0]
        if isinstance(name, Token):
            self._writer.glue(" AS ")
            self._values.write_name(name)

    def _drop(self, step: Node) -> None:
        self._open("DROP ", step)
        names = [token for token in step.tokens() if token.kind in ("name", "quoted")]
        self._values.write_list(names)

    def _group(self, step: Node) -> None:
        self._open("AGGREGATE", step)
        block = step.find("block")
        aggregates = block.nodes if block is not None else []
        for index, entry in enumerate(aggregates):
            self._writer.glue(f",\n{self._indent}     " if index else " ")
            self._entry(entry)
        keys = [each for each in step.nodes if each.form != "block"]
        if keys:
            self._writer.glue(f"\n{self._indent}   " if aggregates else "")
            self._writer.glue(" GROUP BY ")
        for index, key in enumerate(keys):
            self._writer.glue(", " if index else "")
            self._entry(key)

    def _select(self, step: Node) -> None:
        self._open("SELECT ", step)
        for index, item in enumerate(step.nodes[0].nodes):
            self._writer.glue(f",\n{self._indent}     " if index else "")
            if item.form == "star":
                self._star(item)
            else:
                self._entry(item)

    def _star(self, star: Node) -> None:
        for token in star.tokens():
            if token.kind in ("name", "quoted"):
                self._values.write_name(token)
            elif token.is_word("except"):
                self._writer.write(" EXCEPT ", token.span)
            else:
                self._writer.write(", " if token.text == "," else token.text, token.span)

    def _sort(self, step: Node) -> None:
        self._open("ORDER BY ", step)
        self._values.write_list(step.nodes)

    def _take(self, step: Node) -> None:
        number = step.parts[1]
        assert isinstance(number, Token)
        self._open("LIMIT ", step)
        self._writer.write(number.text.replace("_", ""), number.span)

    def _combine(self, step: Node) -> None:
        words = step.words
        self._open(" ".join(word.upper() for word in words), step)
        self._writer.glue(" (")
        outer, self._indent = self._indent, self._indent + "  "
        source = step.nodes[0]
        relation = source.nodes[0]
        self._line()
        if relation.form == "subquery" and len(source.parts) == 1:
            self._write_pipeline(relation.nodes[0])
        else:
            self._writer.glue("FROM ")
            self._source(source)
        self._indent = outer
        self._line()
        self._writer.glue(")")

    def _join(self, step: Node) -> None:
        side = step.words[0].removesuffix("_join")
        source = step.find("source")
        assert source is not None
        self._open(f"{_JOINS[side]} ", step)
        condition = next(
            (each for each in step.nodes if each.form not in ("source", "block")), None
        )
        keys = condition is not None and condition.form == "names"
        kept = step.find("block")
        hidden: list[str] = []
        if kept is None:
            self._source(source)
        else:
            needed = _needed_columns(condition, source)
            hidden = self._kept_source(source, kept, needed, keys=keys)
        if condition is not None:
            self._writer.glue(" USING (" if keys else " ON ")
            self._values.write(condition)
            self._writer.glue(")" if keys else "")
        if hidden:
            qualifier = _name_of(source)
            assert qualifier is not None
            listed = ", ".join(f"{sql_name(qualifier)}.{name}" for name in hidden)
            self._open(f"SELECT * EXCEPT ({listed})", step)

    def _kept_source(
        self, source: Node, kept: Node, needed: Sequence[Token], *, keys: bool
    ) -> list[str]:
        """The other table with the columns that are kept and those the condition needs.

        Gives back the columns that must go again, because the condition alone needs them.
        """
        self._writer.glue("(FROM ")
        self._source(source)
        self._writer.glue(" |> SELECT ")
        hidden = _hidden(needed, kept, source)
        for token in hidden:
            self._values.write_name(token, borrowed=True)
            self._writer.glue(", ")
        for index, entry in enumerate(kept.nodes):
            self._writer.glue(", " if index else "")
            self._entry(entry)
        self._writer.glue(")")
        name = _name_of(source)
        if name is not None:
            self._writer.glue(f" AS {sql_name(name)}")
        return [] if keys else [sql_name(token) for token in hidden]


def _plain(token: Token) -> str:
    """A name as Spark compares it."""
    text = token.text[1:-1].replace("``", "`") if token.kind == "quoted" else token.text
    return text.lower()


def _hidden(needed: Sequence[Token], kept: Node, source: Node) -> list[Token]:
    """The columns that a condition needs and `keep` does not have.

    Raises Unreadable where something else is kept under the name of one.
    """
    table = _name_of(source)
    wanted = {_plain(token) for token in needed}
    have: set[str] = set()
    for entry in kept.nodes:
        names = [token for token in entry.tokens() if token.kind in ("name", "quoted", "word")]
        own = table is not None and _plain(names[0]) == _plain(table)
        if entry.form == "item" and len(names) == 1 + own:
            have.add(_plain(names[-1]))
            continue
        output = names[-1] if entry.form == "item" else names[0]
        if _plain(output) in wanted:
            raise Unreadable(
                f"the join is by `{output.text}`, so nothing else can have that name",
                output.span,
                "give it another name",
            )
    return [token for token in needed if _plain(token) not in have]


def _columns_in(node: Node) -> set[str]:
    """The first names of the columns an expression mentions."""
    found: set[str] = set()
    stack = [node]
    while stack:
        each = stack.pop()
        if each.form == "column":
            found.add(_plain(next(each.tokens())))
        stack.extend(each.nodes)
    return found


def _name_of(source: Node) -> Token | None:
    """The name a source answers to in SQL: its own, else the last part of the table's."""
    last = source.parts[-1]
    if isinstance(last, Token):
        return last
    relation = source.nodes[0]
    return list(relation.tokens())[-1] if relation.form == "column" else None


def _needed_columns(condition: Node | None, source: Node) -> list[Token]:
    """The columns of a joined table that its condition needs, each once."""
    if condition is None:
        return []
    if condition.form == "names":
        return [next(each.tokens()) for each in condition.nodes]
    name = _name_of(source)
    if name is None:
        raise Unreadable(
            "the joined pipeline has no name to `keep` columns by",
            source.span,
            "write `as name` behind it",
        )
    found: dict[str, Token] = {}
    stack = [condition]
    while stack:
        each = stack.pop()
        if each.form == "column":
            tokens = [token for token in each.tokens() if not token.is_mark(".")]
            if len(tokens) == 1:
                raise _unqualified(tokens[0], name.text)
            if _plain(tokens[0]) == _plain(name):
                found.setdefault(_plain(tokens[1]), tokens[1])
        stack.extend(each.nodes)
    return sorted(found.values(), key=lambda token: token.start)


def _unqualified(token: Token, name: str) -> Unreadable:
    return Unreadable(
        f"the condition of a join with `keep` does not say whose column `{token.text}` is",
        Span(token.start, token.end),
        f"write `{name}.{token.text}`, or the name of the other table",
    )

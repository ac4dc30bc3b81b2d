"""Mentions: where a query names tables and columns, and which FROM clause each name belongs to.

Nothing is looked up here: no schema is known. A CTE hides a table from the query it belongs to and
all that nests in it, never from the CTEs before it. `bare_names` asks the tokens and not the tree,
because a name that a tree leaves out must count as well; it is None where a query could read
a column without naming it.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from sqlglot import exp
from sqlglot.errors import TokenError
from sqlglot.tokens import Token, TokenType

from rocky.errors import InternalError, RockyError
from rocky.language.names import split_name
from rocky.language.syntax.dialect import PIPE, tokenize
from rocky.language.syntax.tokens import without_comments

_WHOLESALE: Final = frozenset(
    {
        "NATURAL",
        "PIVOT",
        "UNPIVOT",
        "TABLE",
        "TABLESAMPLE",
        "TRANSFORM",
        "RECURSIVE",
        "IDENTIFIER",
        "|>",
    }
)
"""Words with which a query takes columns as they come, or names them in a text."""

_OPERANDS: Final = frozenset(
    {
        TokenType.VAR,
        TokenType.IDENTIFIER,
        TokenType.NUMBER,
        TokenType.R_PAREN,
        TokenType.R_BRACKET,
        TokenType.END,
    }
)
_AFTER_STAR: Final = frozenset(
    {TokenType.COMMA, TokenType.R_PAREN, TokenType.FROM, TokenType.EXCEPT}
)
_BEFORE_BARE_FROM: Final = frozenset({"(", "UNION", "INTERSECT", "EXCEPT", "MINUS", "ALL"})
_LITERALS: Final = frozenset({TokenType.STRING, TokenType.NUMBER})


def bare_names(sql: str) -> frozenset[str] | None:
    """The names without a qualifier in a query, in lower case, and its keywords among them.

    None when the query may read columns that it does not name. Calls and names after AS, which are
    definitions, are left out.
    """
    try:
        tokens = tokenize(without_comments(sql))
    except TokenError:
        return None
    names: set[str] = set()
    for at, token in enumerate(tokens):
        if _is_wholesale(tokens, at):
            return None
        if (
            token.token_type not in _LITERALS
            and _kind(tokens, at - 1) not in (TokenType.DOT, TokenType.ALIAS)
            and _kind(tokens, at + 1) is not TokenType.L_PAREN
        ):
            names.add(token.text.lower())
    return frozenset(names)


def _is_wholesale(tokens: Sequence[Token], at: int) -> bool:
    """Whether columns may be read here that are not named."""
    token = tokens[at]
    if token.token_type is TokenType.STAR:
        return not (_counts(tokens, at) or _multiplies(tokens, at))
    if token.token_type is TokenType.FROM:
        # Without a SELECT, all columns.
        return at == 0 or tokens[at - 1].text.upper() in _BEFORE_BARE_FROM
    return token.token_type not in _LITERALS and token.text.upper() in _WHOLESALE


def _counts(tokens: Sequence[Token], at: int) -> bool:
    """Whether a star is that of `count(*)`."""
    return (
        at >= 2
        and tokens[at - 2].text.lower() == "count"
        and _kind(tokens, at - 1) is TokenType.L_PAREN
        and _kind(tokens, at + 1) is TokenType.R_PAREN
    )


def _multiplies(tokens: Sequence[Token], at: int) -> bool:
    following = _kind(tokens, at + 1)
    return (
        _kind(tokens, at - 1) in _OPERANDS
        and following is not None
        and following not in _AFTER_STAR
    )


def _kind(tokens: Sequence[Token], at: int) -> TokenType | None:
    return tokens[at].token_type if 0 <= at < len(tokens) else None


_PARTS: Final = ("catalog", "db", "table", "this")
_TABLE_PARTS: Final = ("catalog", "db", "this")


class FromItem:
    """A relation in FROM that can be a qualifier: `name` is what columns call it, in lower case.

    `parts` are those of a table's name, in lower case, and none for whatever is no table: CTEs,
    subqueries, functions. `written` is the last of them as the author spelt it.
    """

    __slots__ = ("aliased", "identifiers", "name", "node", "parts", "scope", "written")

    def __init__(self, name: str, scope: "QueryScope", node: Any, *, aliased: bool) -> None:
        self.name = name
        self.scope = scope
        self.node = node
        self.aliased = aliased
        self.parts: tuple[str, ...] = ()
        self.written = ""
        self.identifiers: list[Any] = []


class QueryScope:
    """The items of one FROM clause; `parent` is the query around it that it may refer to."""

    __slots__ = ("items", "parent")

    def __init__(self, parent: "QueryScope | None") -> None:
        self.parent = parent
        self.items: list[FromItem] = []

    def outwards(self) -> "Iterator[QueryScope]":
        """This scope and those around it, innermost first."""
        scope: QueryScope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent


class NameUse:
    """A dotted name that may begin with a table's name: a column or a star."""

    __slots__ = ("identifiers", "parts", "scope")

    def __init__(self, identifiers: list[Any], scope: QueryScope) -> None:
        self.identifiers = identifiers
        self.parts = tuple(_word(each) for each in identifiers)
        self.scope = scope


class References:
    """Every table reference of a query and every dotted name, found by one walk over its tree."""

    __slots__ = ("_seen", "cte_names", "tables", "uses")

    def __init__(self, tree: exp.Expr) -> None:
        self.tables: list[FromItem] = []
        self.uses: list[NameUse] = []
        self.cte_names: set[str] = set()
        self._seen: set[int] = set()
        if isinstance(tree, exp.Table):
            self._relation(tree, QueryScope(None), frozenset(), None)
        else:
            self._query(tree, frozenset(), None)
        self._check_all_seen(tree)

    def _check_all_seen(self, tree: exp.Expr) -> None:
        """A table the walk passed by would be read unpinned: better no run at all."""
        for table in tree.find_all(exp.Table):
            if id(table) not in self._seen and table.find_ancestor(exp.Hint) is None:
                raise _misplaced(table)

    def _query(self, node: Any, ctes: frozenset[str], parent: QueryScope | None) -> QueryScope:
        """The scope that ORDER BY after the query sees."""
        ctes = self._with(node, ctes, parent)
        if isinstance(node, exp.Select):
            return self._select(node, ctes, parent)
        done = {"with_", "this", "expression"}
        if isinstance(node, exp.SetOperation):
            scope = self._query(node.args["this"], ctes, parent)
            self._query(node.args["expression"], ctes, parent)
        elif isinstance(node, exp.Subquery):
            scope = self._parenthesised(node, ctes, parent)
        else:
            # VALUES, and whatever else has no FROM of its own.
            scope = QueryScope(parent)
            done = {"with_"}
        self._clauses(node, done, scope, ctes)
        return scope

    def _with(self, node: Any, ctes: frozenset[str], parent: QueryScope | None) -> frozenset[str]:
        clause = node.args.get("with_")
        if clause is None:
            return ctes
        recursive = bool(clause.args.get("recursive"))
        for cte in clause.args["expressions"]:
            name = _word(cte.args["alias"].args["this"])
            self.cte_names.add(name)
            later = ctes | {name}
            self._query(cte.args["this"], later if recursive else ctes, parent)
            ctes = later
        return ctes

    def _select(self, node: Any, ctes: frozenset[str], parent: QueryScope | None) -> QueryScope:
        scope = QueryScope(parent)
        source = node.args.get("from_")
        if source is not None:
            self._relation(source.args["this"], scope, ctes, parent)
        self._joins(node, scope, ctes, parent)
        for lateral in node.args.get("laterals") or []:
            self._relation(lateral, scope, ctes, parent)
        self._clauses(node, {"with_", "from_", "joins", "laterals"}, scope, ctes)
        return scope

    def _joins(
        self, node: Any, scope: QueryScope, ctes: frozenset[str], parent: QueryScope | None
    ) -> None:
        for join in node.args.get("joins") or []:
            self._relation(join.args["this"], scope, ctes, parent)
            self._clauses(join, {"this"}, scope, ctes)

    def _parenthesised(
        self, node: Any, ctes: frozenset[str], parent: QueryScope | None
    ) -> QueryScope:
        inner = node.args["this"]
        if isinstance(inner, exp.Table):
            scope = QueryScope(parent)
            self._relation(inner, scope, ctes, parent)
            return scope
        return self._query(inner, ctes, parent)

    def _relation(
        self, node: Any, scope: QueryScope, ctes: frozenset[str], parent: QueryScope | None
    ) -> None:
        """One item of FROM, added to `scope`; `parent` is what a subquery in it may refer to."""
        if isinstance(node, exp.Table):
            self._table(node, scope, ctes)
            self._joins(node, scope, ctes, parent)
            self._clauses(node, {"alias", "joins", *_TABLE_PARTS}, scope, ctes)
            return
        done = {"alias"}
        inner: QueryScope | None = None
        if isinstance(node, exp.Subquery):
            ctes = self._with(node, ctes, parent)
            done |= {"with_", "this", "joins"}
            inner = self._parenthesised(node, ctes, parent)
        elif isinstance(node, exp.Lateral) and isinstance(node.args["this"], exp.Subquery):
            done.add("this")
            self._query(node.args["this"], ctes, scope)
        alias = node.args.get("alias")
        if alias is not None and alias.args.get("this") is not None:
            scope.items.append(FromItem(_word(alias.args["this"]), scope, node, aliased=True))
        elif inner is not None and (_is_relation(node) or node.args.get(PIPE)):
            # Parentheses around a table, or a pipe step: the names inside are seen outside.
            for item in inner.items:
                item.scope = scope
            scope.items.extend(inner.items)
        self._joins(node, scope, ctes, parent)
        self._clauses(node, done, scope, ctes)

    def _table(self, node: Any, scope: QueryScope, ctes: frozenset[str]) -> None:
        args = node.args
        self._seen.add(id(node))
        alias = args.get("alias")
        aliased = alias is not None and alias.args.get("this") is not None
        identifiers = _flat([args[part] for part in _TABLE_PARTS if args.get(part) is not None])
        function = _is_call(args["this"]) and not _is_identifier_call(args["this"])
        if function:
            self._clauses(args["this"], set(), scope, ctes)
        written = () if function else _named(args["this"]) or tuple(_name(i) for i in identifiers)
        parts = tuple(part.lower() for part in written)
        own = parts[-1] if parts else ""
        name = _word(alias.args["this"]) if aliased else own
        item = FromItem(name, scope, node, aliased=aliased)
        if parts and not (len(parts) == 1 and parts[0] in ctes):
            item.parts = parts
            item.written = written[-1]
            item.identifiers = [] if _is_call(args["this"]) else identifiers
            self.tables.append(item)
        scope.items.append(item)

    def _clauses(self, node: Any, done: set[str], scope: QueryScope, ctes: frozenset[str]) -> None:
        """The expressions below a node, except in the args already dealt with."""
        stack: list[Any] = [node.args[name] for name in node.args if name not in done]
        while stack:
            each = stack.pop()
            if isinstance(each, list):
                stack.extend(each)
            elif isinstance(each, exp.Column):
                self._column(each, scope)
                star = each.args["this"]
                stack.extend(star.args.values() if isinstance(star, exp.Star) else ())
            elif isinstance(each, exp.Query | exp.Values):
                self._query(each, ctes, scope)
            elif isinstance(each, exp.Table):
                raise _misplaced(each)
            elif isinstance(each, exp.Expr) and not isinstance(each, exp.Hint):
                stack.extend(each.args.values())

    def _column(self, node: Any, scope: QueryScope) -> None:
        args = node.args
        if args.get("table") is not None:
            identifiers = [args[part] for part in _PARTS if args.get(part) is not None]
            self.uses.append(NameUse(identifiers, scope))


def _misplaced(table: exp.Table) -> InternalError:
    return InternalError(f"the table `{table.name}` stands where Rocky does not look for tables")


def _is_relation(node: Any) -> bool:
    return isinstance(node.args["this"], exp.Table)


def _is_call(node: Any) -> bool:
    return isinstance(node, exp.Anonymous)


def _is_identifier_call(call: Any) -> bool:
    return str(call.args["this"]).lower() == "identifier"


def _named(call: Any) -> tuple[str, ...]:
    """The parts of the constant name in IDENTIFIER('a.b'), or none."""
    if not _is_call(call):
        return ()
    arguments = call.args.get("expressions") or []
    if len(arguments) != 1 or not isinstance(arguments[0], exp.Literal):
        message = (
            "IDENTIFIER of an expression in FROM: the table must be known before the run; "
            "write its name"
        )
        raise RockyError(message)
    return split_name(arguments[0].name)


def _flat(identifiers: list[Any]) -> list[Any]:
    """The parts of a name; the library keeps those after the third in a chain of dots."""
    found: list[Any] = []
    for each in identifiers:
        found.extend(
            _flat([each.args["this"], each.args["expression"]])
            if isinstance(each, exp.Dot)
            else [each]
        )
    return found


def _name(identifier: Any) -> str:
    return str(identifier.name) if isinstance(identifier, exp.Expr) else ""


def _word(identifier: Any) -> str:
    return _name(identifier).lower()

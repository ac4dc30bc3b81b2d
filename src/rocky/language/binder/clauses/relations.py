"""The items of a FROM clause: tables, CTEs, derived tables, inline values, table functions."""

from typing import Any, Final

from sqlglot import exp

from rocky.diagnostics import Code
from rocky.diagnostics.suggestion import closest
from rocky.language.binder.clauses.pivots import bind_pivots
from rocky.language.binder.expr import (
    EXPRESSION,
    HAS_AGGREGATE,
    HAS_GENERATOR,
    HAS_OUTER,
    HAS_WINDOW,
    Column,
    Expr,
    merge_flags,
    merge_sources,
)
from rocky.language.binder.expressions.calls import (
    argument_nodes,
    bind_arguments,
    call_kind,
    function_name,
    report_refusal,
)
from rocky.language.binder.expressions.declared_calls import bind_declared_rows
from rocky.language.binder.expressions.determinism import note_sample
from rocky.language.binder.expressions.identifiers import named_parts
from rocky.language.binder.scopes import Relation, Scope, bind_expression
from rocky.language.declared_functions import UNDECLARED
from rocky.language.functions.generators import GENERATORS
from rocky.language.functions.operand import Refusal
from rocky.language.tables import Table


def bind_table(node: exp.Table, scope: Scope) -> Relation:
    """A name in FROM: a CTE, then a table; or a table function; with its alias and pivots."""
    args = node.args
    alias = args.get("alias")
    _check_sample(args.get("sample"), node, scope)
    if args["this"].__class__ is exp.Anonymous:
        relation = _table_function(args["this"], scope)
    elif alias is not None and not alias.args.get("columns") and not args.get("pivots"):
        # The common case: the alias is the columns' only qualifier from the start.
        named = alias.args["this"]
        relation = _named_table(node, scope, (scope.binding.define_alias(named),))
        if scope.binding.names is not None:
            scope.binding.names.define_alias(named, (), relation, scope.binding)
        return relation
    else:
        relation = _named_table(node, scope)
    relation = aliased(relation, alias, node, scope)
    return bind_pivots(relation, args["pivots"], scope) if args.get("pivots") else relation


def _check_sample(sample: Any, node: exp.Table, scope: Scope) -> None:
    """TABLESAMPLE takes at most 100 percent."""
    note_sample(sample, scope)
    percent = sample.args.get("percent") if sample is not None else None
    if percent.__class__ is exp.Literal and float(percent.name) > 100:
        scope.binding.error(
            Code.INVALID_CLAUSE,
            "a sample of more than 100 percent",
            node,
            "_LEGACY_ERROR_TEMP_0064",
        )


def _named_table(
    node: exp.Table, scope: Scope, qualifier: tuple[str, ...] | None = None
) -> Relation:
    args = node.args
    identifiers = [args[part] for part in ("catalog", "db", "this") if args.get(part) is not None]
    if not all([isinstance(identifier, exp.Identifier) for identifier in identifiers]):  # noqa: C419 - faster for so few
        scope.binding.error(
            Code.SYNTAX_ERROR, "a part of the name is missing", node, "PARSE_SYNTAX_ERROR"
        )
        return Relation([], known=False)
    parts = tuple([identifier.name.lower() for identifier in identifiers])
    binding = scope.binding
    if binding.names is not None:
        binding.names.meet(parts, scope, table=True)
    if len(parts) == 1:
        cte = scope.ctes.get(parts[0])
        if cte is not None:
            binding.name_alias(identifiers[0])
            read = instantiate(cte, qualifier or parts, scope)
            if binding.names is not None:
                binding.names.read_cte(identifiers[0], cte, read, binding)
            return read
    table = binding.tables.find(parts)
    if table is None:
        table = _undeclared_table(node, parts, scope)
    if table is None:
        return _unknown_table(node, parts, scope)
    binding.reads[table.name] = table
    own = table.qualifier if table.qualifier[-len(parts) :] == parts else parts
    read = scan(table, qualifier or own, scope)
    if binding.names is not None:
        binding.names.read_table(identifiers, table.name, read, binding)
    return read


def scan(table: Table, qualifier: tuple[str, ...], scope: Scope) -> Relation:
    """Fresh columns for one reading of a table."""
    binding = scope.binding
    columns: list[Column] = []
    name = table.name
    ident = binding._ident
    for field in table.fields:
        ident += 1
        source = frozenset((binding.origin(name, field.name) << 3,))
        column = Column(field.name, field.type, field.nullable, source, ident, qualifier)
        column.open = True
        columns.append(column)
    binding._ident = ident
    return Relation(columns, table.known)


def instantiate(relation: Relation, qualifier: tuple[str, ...], scope: Scope) -> Relation:
    """A CTE's columns anew, so that reading it twice gives two sets of columns."""
    binding = scope.binding
    columns: list[Column] = []
    renewed: dict[int, int] = {}
    for column in relation.columns:
        if column.hidden:
            continue
        ident = renewed.get(column.ident)
        if ident is None:
            ident = renewed[column.ident] = binding.fresh()
        columns.append(column.copy(ident=ident, qualifier=qualifier))
    binding.groups.read_again(renewed)
    return Relation(columns, relation.known)


def _undeclared_table(node: exp.Table, parts: tuple[str, ...], scope: Scope) -> Table | None:
    """A table that the project may read without declaring it; None for what is a mistake."""
    if _is_path(node, parts):
        return None
    found = scope.binding.tables.undeclared(parts)
    # Tables of others have a schema; a name alone that is nearly one of ours is misspelt.
    if found is not None and len(parts) == 1 and _near(parts, scope):
        return None
    return found


def _is_path(node: exp.Table, parts: tuple[str, ...]) -> bool:
    quoted = node.args["this"].args.get("quoted")
    return len(parts) == 2 and parts[0] in _PATH_FORMATS and bool(quoted)


def _near(parts: tuple[str, ...], scope: Scope) -> str | None:
    candidates = [*scope.ctes, *scope.binding.tables.names()]
    return closest(".".join(parts), candidates) or closest(parts[-1], candidates)


def _unknown_table(node: exp.Table, parts: tuple[str, ...], scope: Scope) -> Relation:
    written = ".".join(parts)
    if _is_path(node, parts):
        return _file_by_path(node, parts[0], scope)
    near = _near(parts, scope)
    scope.binding.error(
        Code.UNKNOWN_TABLE,
        f"no table `{written}`",
        _name_only(node),
        "TABLE_OR_VIEW_NOT_FOUND",
        help=f"there is `{near}`"
        if near
        else "declare it under sources/ or add a model of that name",
    )
    return Relation([], known=False)


_PATH_FORMATS: Final = frozenset(
    "avro binaryfile csv delta hudi iceberg json orc parquet text xml".split()
)


def _file_by_path(node: exp.Table, kind: str, scope: Scope) -> Relation:
    """Files named by a path: no table whose columns, rows and versions anything could know."""
    scope.binding.error(
        Code.UNKNOWN_TABLE,
        f"`{kind}.` and a path read files by their place, which is not a declared source",
        _name_only(node),
        None,
        help="declare a source under sources/ and read it by its name,"
        " or load the files with a pipeline of type `load`",
    )
    return Relation([], known=False)


def _name_only(node: exp.Table) -> exp.Expr:
    """The table's name without its alias, for a tight span."""
    args = node.args
    return exp.Dot(
        this=args.get("catalog") or args.get("db") or args["this"], expression=args["this"]
    )


_ALIAS_CONDITIONS: Final[dict[type, str]] = {
    exp.Lateral: "UDTF_ALIAS_NUMBER_MISMATCH",
    exp.Values: "INVALID_INLINE_TABLE.NUM_COLUMNS_MISMATCH",
}


def aliased(relation: Relation, alias: Any, node: exp.Expr, scope: Scope) -> Relation:
    """The relation under its alias, with renamed columns where the alias lists them."""
    if alias is None:
        return relation
    this = alias.args.get("this")
    renamed = alias.args.get("columns") or []
    columns = relation.visible()
    if renamed and relation.known and len(renamed) != len(columns):
        scope.binding.error(
            Code.INVALID_CLAUSE,
            f"the alias names {len(renamed)} columns, but there are {len(columns)}",
            alias,
            "NUM_TABLE_VALUE_ALIASES_MISMATCH"
            if node.__class__ is exp.Table and node.args["this"].__class__ is exp.Anonymous
            else _ALIAS_CONDITIONS.get(node.__class__, "ASSIGNMENT_ARITY_MISMATCH"),
        )
        return Relation([], known=False)
    qualifier = (scope.binding.define_alias(this),) if this is not None else None
    found: list[Column] = []
    for index, column in enumerate(columns):
        name = renamed[index].name if renamed else None
        found.append(column.copy(name, qualifier=qualifier))
    made = Relation(found, relation.known)
    if scope.binding.names is not None:
        scope.binding.names.define_alias(this, renamed, made, scope.binding)
    return made


def unqualified(relation: Relation) -> Relation:
    columns = [column.copy(qualifier=()) for column in relation.visible()]
    return Relation(columns, relation.known)


def bind_generator(call: Any, scope: Scope, args_scope: Scope) -> Relation:
    """The columns a generator or table function yields; `args_scope` is what its arguments see."""
    key = function_name(call).lower() if call.__class__ is exp.Anonymous else ""
    rule = GENERATORS.get(key)
    binding = scope.binding
    view = call.parent.__class__ is exp.Lateral and bool(call.parent.args.get("view"))
    if rule is None:
        if key and not view and not call_kind(key):
            return _unlisted_rows(call, key, scope, args_scope)
        _no_generator(call, key, scope, view=args_scope is not scope)
        return Relation([], known=False)
    nodes = argument_nodes(call, args_scope)
    if view and any(node.__class__ is exp.Kwarg for node in nodes):
        binding.error(
            Code.SYNTAX_ERROR,
            "LATERAL VIEW takes no named parameters",
            call,
            "PARSE_SYNTAX_ERROR",
            help="pass the argument by position",
        )
        return Relation([], known=False)
    args = bind_arguments(key, nodes, args_scope)
    binding.calls.append((key, len(args), call))
    if view:
        _check_view(args, call, scope)
    if any(arg.flags & HAS_GENERATOR for arg in args):
        binding.error(
            Code.INVALID_CLAUSE,
            "a generator cannot stand inside another",
            call,
            "UNSUPPORTED_GENERATOR.NESTED_IN_EXPRESSIONS",
        )
        return Relation([], known=False)
    try:
        found = rule(key, args)
    except Refusal as refusal:
        report_refusal(key, refusal, args, call, scope)
        return Relation([], known=False)
    sources = merge_sources(args, EXPRESSION)
    return Relation(
        [Column(name, kind, nullable, sources, binding.fresh()) for name, kind, nullable in found]
    )


def _unlisted_rows(call: Any, key: str, scope: Scope, args_scope: Scope) -> Relation:
    """A table function that Spark does not ship; of one nobody declares, no column is known."""
    binding = scope.binding
    parts = (*_schema_of(call), key)
    function = binding.tables.function(parts)
    if function is not None:
        binding.calls.append((".".join(parts), len(argument_nodes(call, args_scope)), call))
    if function is not None and function is not UNDECLARED:
        return bind_declared_rows(
            function, call, argument_nodes(call, args_scope), scope, args_scope
        )
    names = [*GENERATORS, *binding.tables.function_names()]
    if function is UNDECLARED and closest(key, names) is None:
        for node in argument_nodes(call, args_scope):
            bind_expression(node, args_scope)
        binding.mark_volatile(f"function `{key}`, which is not declared")
        binding.give_up(f"function `{key}`, which is not declared")
        return Relation([], known=False)
    _no_generator(call, key, scope, view=args_scope is not scope)
    return Relation([], known=False)


def _schema_of(call: Any) -> tuple[str, ...]:
    """What stands before the name of a function in FROM, in lower case."""
    table = call.parent
    if table.__class__ is not exp.Table:
        return ()
    parts = (table.args.get("catalog"), table.args.get("db"))
    return tuple(each.name.lower() for each in parts if each is not None)


def _check_view(args: list[Expr], call: Any, scope: Scope) -> None:
    """LATERAL VIEW reads the rows before it: neither aggregates of them nor an outer query."""
    flags = merge_flags(args)
    if flags & HAS_OUTER:
        scope.binding.error(
            Code.INVALID_SUBQUERY,
            "LATERAL VIEW cannot read a column of the query around this one",
            call,
            "UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY.CORRELATED_REFERENCE",
            help="select it into a subquery of FROM first",
        )
    elif flags & (HAS_AGGREGATE | HAS_WINDOW):
        scope.binding.error(
            Code.INVALID_AGGREGATION,
            "LATERAL VIEW cannot hold an aggregate or window function",
            call,
            "UNSUPPORTED_EXPR_FOR_OPERATOR",
            help="aggregate in a subquery of FROM first",
        )


def _no_generator(call: Any, key: str, scope: Scope, *, view: bool) -> None:
    """A function that yields no rows, or no function at all, where rows are wanted."""
    if not key:
        scope.binding.error(
            Code.SYNTAX_ERROR,
            "LATERAL VIEW needs a generator such as `explode`",
            call,
            "PARSE_SYNTAX_ERROR",
        )
        return
    near = closest(key, [*GENERATORS, *scope.binding.tables.function_names()])
    known = call_kind(key)
    scope.binding.error(
        Code.UNKNOWN_FUNCTION,
        f"`{key}` gives a value, not rows" if known else f"no generator or table function `{key}`",
        call,
        _not_rows(view=view, known=bool(known)),
        help=f"there is `{near}`"
        if near
        else "`explode`, `posexplode`, `inline` and `stack` give rows",
    )


def _not_rows(*, view: bool, known: bool) -> str:
    """Spark's condition, which depends on where rows were wanted."""
    if not view:
        return "UNRESOLVABLE_TABLE_VALUED_FUNCTION"
    return "UNSUPPORTED_GENERATOR.NOT_GENERATOR" if known else "ROUTINE_NOT_FOUND"


def _table_function(call: Any, scope: Scope) -> Relation:
    """A function in FROM; IDENTIFIER('t') is a table whose name is a constant."""
    if str(call.args["this"]).lower() == "identifier":
        nodes = argument_nodes(call, scope)
        words = named_parts(call, scope)
        if words is None:
            return Relation([], known=False)
        if nodes[0].__class__ is not exp.Literal:
            scope.binding.error(
                Code.UNKNOWN_TABLE,
                "IDENTIFIER of an expression in FROM: the table must be known before the run",
                call,
                None,
                help="write the table's name",
            )
            return Relation([], known=False)
        parts = dict(
            zip(("this", "db", "catalog"), map(exp.to_identifier, reversed(words)), strict=False)
        )
        return _named_table(exp.Table(**parts), scope)
    return bind_generator(call, scope, scope)


def bind_lateral_view(node: exp.Lateral, relation: Relation, scope: Scope) -> Relation:
    """`LATERAL VIEW [OUTER] explode(x) t AS a, b` over the relation so far."""
    inner = Scope(scope.binding, relation, scope.parent, scope.ctes, "view")
    made = bind_generator(node.args["this"], scope, inner)
    made = aliased(made, node.args.get("alias"), node, scope)
    columns = made.columns
    if node.args.get("outer"):
        columns = [column.nulled() for column in columns]
    return Relation([*relation.columns, *columns], relation.known and made.known)

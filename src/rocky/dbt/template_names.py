"""What the names of dbt mean to a template that is rendered: `ref`, `source`, `var`, macros.

A relation is printed as a mark, and only afterwards, when all of the text is known, as a name. What
needs a database, the clock or the process is not answered: it raises Unrenderable.
"""

import re
from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any, Final, NamedTuple, NoReturn

from rocky.dbt.built_in_macros import IN_PLACE
from rocky.dbt.lookups import find_node, find_source, stands_for
from rocky.dbt.sandbox import Sandbox, Unrenderable, load_template
from rocky.dbt.template_values import API, EXCEPTIONS, FLAGS, PURE, MacroResult, leave, nothing
from rocky.dbt.values import DbtProject, Macro, Node

OPEN, CLOSE = "\ue000", "\ue001"
"""Around the number of a mark."""
MARK: Final = re.compile(f"{OPEN}(\\d+){CLOSE}")
_INTERNAL: Final = ("dbt", "dbt_spark", "dbt_databricks")
_START: Final = re.compile(r"(\{%-?\s*)(?:macro|data_test|test)(\s+)\w+")
_TEST_END: Final = re.compile(r"(\{%-?\s*)end(?:data_)?test(\s*-?%\})")
_UNSET: Final = object()
_MADE: Final = "macro_of_dbt"
_ASKS_DATABASE: Final = ("run_query", "statement", "load_result", "load_relation", "store_result")
ASKS_DATABASE: Final = "asks the database"
_ASKS_CLOCK: Final = ("run_started_at", "invocation_id", "graph")


class Piece(NamedTuple):
    """What a mark stands for: in Rocky's SQL and in dbt's. `read` is the id of what is read."""

    sql: str
    dbt: str
    read: str = ""


class Relation:
    """A table as a template sees it."""

    def __init__(self, mark: str, database: str | None, schema: str, identifier: str) -> None:
        self.database = database
        self.schema = schema
        self.identifier = self.name = self.table = identifier
        self.is_view = self.is_cte = False
        self.is_table = self.is_relation = True
        self._mark = mark

    def __str__(self) -> str:
        return self._mark

    def include(self, **_: Any) -> "Relation":
        """The same: how names are written is Rocky's to say."""
        return self

    quote = include


class _Macros:
    """The macros of a package by name; asked by item, as names may begin with an underscore."""

    def __init__(self, package: str, macros: Mapping[str, "_MacroCall"]) -> None:
        self._package = package
        self._macros = macros

    def __getitem__(self, name: str) -> Any:
        found = self._macros.get(name)
        if found is None:
            raise Unrenderable(
                f"no macro `{self._package}.{name}` is here; if a package has it, run `dbt deps`"
            )
        return found


class _MacroCall:
    """A macro; its text is read when it is first called."""

    def __init__(self, names: "TemplateNames", macro: Macro) -> None:
        self._names = names
        self._macro = macro
        self._made: Callable[..., Any] | None = None

    def __call__(self, *given: Any, **named: Any) -> Any:
        if self._made is None:
            # By one name: those that begin with an underscore are not handed out.
            text = _START.sub(rf"\1macro\2{_MADE}", self._macro.text, count=1)
            text = _TEST_END.sub(r"\1endmacro\2", text)
            context = self._names.of_package(self._macro.package)
            path = self._macro.path or self._macro.name
            template = load_template(self._names.sandbox, text, path, context)
            self._made = getattr(template.make_module(), _MADE)
        try:
            return self._made(*given, **named)
        except MacroResult as done:
            return done.value


class _Adapter:
    """What a template may ask the adapter: how macros are chosen. The rest is a database's."""

    def __init__(self, names: "TemplateNames", package: str) -> None:
        self._names = names
        self._package = package

    def dispatch(self, macro_name: str, macro_namespace: str | None = None, **_: Any) -> Any:
        """The macro of a name that is written for this adapter, or the one for all."""
        return self._names.dispatched(macro_name, macro_namespace or self._package)

    def quote(self, identifier: str) -> str:
        return f"`{identifier}`"

    def type(self) -> str:
        return self._names.project.adapter

    def __getitem__(self, name: str) -> NoReturn:
        raise Unrenderable(f"`adapter.{name}` {ASKS_DATABASE}")


class _Config:
    """`config(...)`: what it is called with is the node's; `config.get` reads it back."""

    def __init__(self, given: dict[str, Any], known: Mapping[str, Any]) -> None:
        self._given = given
        self._known = known

    def __call__(self, *tables: Mapping[str, Any], **named: Any) -> str:
        for each in tables:
            self._given.update(each)
        self._given.update(named)
        return ""

    def get(self, name: str, default: Any = None, **_: Any) -> Any:
        return self._given.get(name, self._known.get(name, default))

    def require(self, name: str, **_: Any) -> Any:
        found = self.get(name)
        if found is None:
            raise Unrenderable(f"`config.require('{name}')` finds nothing")
        return found


class _Target:
    """The target, as nobody says which it will be: whoever looks at it is noted."""

    def __init__(self, facts: Mapping[str, Any], note: Callable[[str], None]) -> None:
        self._facts = facts
        self._note = note

    def __getitem__(self, name: str) -> Any:
        if name not in self._facts:
            raise Unrenderable(f"`target.{name}` is not known without a profile")
        self._note(f"`target.{name}` was taken as `{self._facts[name]}`")
        return self._facts[name]

    def get(self, name: str, default: Any = None) -> Any:
        return self[name] if name in self._facts else default


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value] if value else []


class _Asked:
    """A name of dbt that only a run can answer: whatever is done with it is refused."""

    def __init__(self, name: str, what: str) -> None:
        self._said = f"`{name}` {what}"

    def __call__(self, *_: Any, **__: Any) -> NoReturn:
        raise Unrenderable(self._said)

    def __str__(self) -> str:
        raise Unrenderable(self._said)

    def __getitem__(self, _: Any) -> NoReturn:
        raise Unrenderable(self._said)


class TemplateNames:
    """The names of one node's template. `config`, `reads` and `remarks` fill as it is rendered."""

    def __init__(
        self, project: DbtProject, node: Node, sandbox: Sandbox, *, incremental: bool = False
    ) -> None:
        self.project, self.node, self.sandbox = project, node, sandbox
        self.pieces: list[Piece] = []
        self.config: dict[str, Any] = {}
        self.remarks: dict[str, None] = {}
        self.asks_incremental = False
        self._incremental = incremental
        self._calls: dict[tuple[str, str], _MacroCall] = {}
        for each in (*project.macros, *IN_PLACE):
            self._calls[each.package, each.name] = _MacroCall(self, each)
        self._packages: dict[str, dict[str, Any]] = {}
        self._own = self._own_names()

    # -------------------------------------------------------------- names

    def of_package(self, package: str) -> Mapping[str, Any]:
        """All names as a template of a package sees them: its own macros before dbt's."""
        found = self._packages.get(package)
        if found is None:
            found = {}
            for each in (*_INTERNAL, self.project.name, package):
                found.update(self._named(each))
            for other in {name for name, _ in self._calls}:
                found[other] = _Macros(other, self._named(other))
            found.update(self._own)
            found["adapter"] = _Adapter(self, package)
            self._packages[package] = found
        return found

    def _named(self, package: str) -> dict[str, _MacroCall]:
        return {name: call for (owner, name), call in self._calls.items() if owner == package}

    def dispatched(self, name: str, namespace: str) -> Any:
        """The macro that dbt would choose. Raises Unrenderable when there is none."""
        prefixes = ("databricks", "spark") if self.project.adapter == "databricks" else ("spark",)
        # What dbt and its adapters ship is one package to whoever asks.
        shipped = tuple(reversed(_INTERNAL))
        groups = ((self.project.name,), (namespace,), (self.node.package,), shipped)
        for owners in (shipped if set(each) & set(_INTERNAL) else each for each in groups):
            for prefix in (*prefixes, "default"):
                for owner in owners:
                    found = self._calls.get((owner, f"{prefix}__{name}"))
                    if found is not None:
                        return found
        raise Unrenderable(f"no macro `{name}` is written for `{self.project.adapter}`")

    def mark(self, piece: Piece) -> str:
        """The mark of a piece of text that is not decided yet."""
        if piece not in self.pieces:
            self.pieces.append(piece)
        return f"{OPEN}{self.pieces.index(piece)}{CLOSE}"

    def note(self, sentence: str) -> None:
        self.remarks[sentence] = None

    def _own_names(self) -> dict[str, Any]:
        facts: dict[str, Any] = {
            "name": "prod",
            "type": self.project.adapter,
            "schema": self.project.default_schema,
        }
        facts |= {"target_name": "prod", "threads": 1}
        names: dict[str, Any] = {
            "ref": self.ref,
            "source": self.source,
            "var": self.var,
            "env_var": self.env_var,
            "config": _Config(self.config, self.node.config),
            "this": self._this(),
            "is_incremental": self.is_incremental,
            "target": _Target(facts, self.note),
            "execute": True,
            "return": leave,
            "log": nothing,
            "print": nothing,
            "doc": nothing,
            "exceptions": EXCEPTIONS,
            "api": API,
            "flags": FLAGS,
            "model": self._node_facts(),
            "project_name": self.project.name,
            "builtins": {"ref": self.ref, "source": self.source, "var": self.var},
            **PURE,
        }
        names |= {each: _Asked(each, ASKS_DATABASE) for each in _ASKS_DATABASE}
        names |= {each: _Asked(each, "is known only in a run") for each in _ASKS_CLOCK}
        names["modules"] = _Asked("modules", "is Python, which is not run here")
        return names

    def _node_facts(self) -> dict[str, Any]:
        """What a template may know of its own node."""
        node = self.node
        return {
            "name": node.name,
            "alias": node.alias or node.name,
            "unique_id": node.id,
            "package_name": node.package,
            "resource_type": node.kind,
            "original_file_path": node.path,
            "schema": node.schema,
            "database": node.database,
            "description": node.description,
            "config": deepcopy(dict(node.config)),
            "tags": _listed(node.config.get("tags")),
        }

    # -------------------------------------------------------------- what templates call

    def ref(self, *names: Any, version: Any = None, v: Any = None, **_: Any) -> Relation:
        package, name = (None, names[0]) if len(names) == 1 else (names[0], names[1])
        wanted = version if version is not None else v
        found = find_node(self.project, str(name), package, wanted)
        if found is None:
            raise Unrenderable(f"`ref('{name}')` names nothing that is enabled")
        return self._relation(found)

    def source(self, group: str, name: str) -> Relation:
        found = find_source(self.project, group, name)
        if found is None:
            raise Unrenderable(f"`source('{group}', '{name}')` is not declared")
        same = stands_for(self.project, found)
        if same is not None:
            self.note(f"`{found.table}` is the table of `{same.table}`, which is read in its place")
            return self._relation(same)
        mark = self.mark(Piece(found.table, found.relation, found.id))
        return Relation(
            mark, found.database, found.schema or found.group, found.identifier or found.name
        )

    def _relation(self, node: Node) -> Relation:
        dbt = node.relation or ".".join(
            filter(None, (node.database, node.schema, node.alias or node.name))
        )
        if node.config.get("materialized") == "ephemeral":
            dbt = f"__dbt__cte__{node.table}"
        mark = self.mark(Piece(node.table, dbt, node.id))
        return Relation(mark, node.database, node.schema, node.alias or node.name)

    def _this(self) -> Relation:
        node = self.node
        mark = self.mark(Piece(node.table, node.relation or "", node.id))
        return Relation(mark, node.database, node.schema, node.alias or node.name)

    def variable(self, name: str, default: Any = None) -> Any:
        """The value of a variable, the package's own before the project's; else the default."""
        for package in (self.node.package, self.project.name):
            values = self.project.variables.get(package, {})
            if name in values:
                return deepcopy(values[name])
        return default

    def var(self, name: str, *default: Any, **named: Any) -> Any:
        given = (*default, *named.values())
        found = self.variable(name, given[0] if given else _UNSET)
        if found is _UNSET:
            raise Unrenderable(f"`var('{name}')` has no value in `dbt_project.yml`")
        return found

    def env_var(self, name: str, default: Any = None) -> Any:
        if default is None:
            raise Unrenderable(
                f"`env_var('{name}')` has no default, and the environment is not read"
            )
        self.note(f"`env_var('{name}')` was taken as its default")
        return default

    def is_incremental(self) -> bool:
        self.asks_incremental = True
        return self._incremental

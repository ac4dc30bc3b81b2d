"""A template rendered: the query of a node, with names in the place of `ref` and `source`.

It is rendered twice, as for a table that is new and as for one that is there, so that what
`is_incremental()` adds is known by its place.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from rocky.dbt.cte_names import find_ctes, is_inside
from rocky.dbt.sandbox import RENDER_ERRORS, Place, Sandbox, Unrenderable, load_template, place_of
from rocky.dbt.template_names import CLOSE, MARK, OPEN, Piece, TemplateNames
from rocky.dbt.values import DbtProject, Node
from rocky.errors import needs_extra

with needs_extra("dbt"):
    from jinja2 import nodes

ADDED, ADDED_END = "\ue002", "\ue003"
"""Around what a template adds when its table is there."""
BLOCK: Final = re.compile(f"{ADDED}(.*?){ADDED_END}", re.DOTALL)
_RESERVED: Final = re.compile(f"[{OPEN}-{ADDED_END}]")
_HAS_RESERVED: Final = "it has characters of its own from U+E000 to U+E003, which Rocky uses itself"
_LONGEST_NUMBER: Final = 9
_LONGEST: Final = 10_000_000
_HEADER: Final = re.compile(r"\s*\{#-?(?P<said>[^{}]*?)-?#\}")
_PLAIN_VALUE: Final = re.compile(r"[\w.:/+ -]+")
_BLANKS: Final = re.compile(r"\n{3,}")
_TRAILING: Final = re.compile(r"[ \t]+$", re.MULTILINE)
_AS_THEY_ARE: Final = frozenset({"ref", "source", "config", "is_incremental", "var"})


@dataclass(frozen=True, slots=True)
class Rendered:
    """What a template came to. `marked` is its text for a table that is there.

    `features` are the parts of Jinja that were carried out, in words; `failure` is why there is no
    text. `config` is what the template itself said of its node.
    """

    text: str = ""
    marked: str = ""
    pieces: Sequence[Piece] = ()
    config: dict[str, Any] | None = None
    features: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    asks_incremental: bool = False
    header: str = ""
    failure: Place | None = None

    @property
    def blocks(self) -> list[str]:
        """What is added when the table is there."""
        return [each.strip() for each in BLOCK.findall(self.marked)]

    @property
    def only_adds(self) -> bool:
        """Whether `is_incremental()` adds to the query and changes nothing else of it."""
        return _words(BLOCK.sub(" ", self.marked)) == _words(self.text)

    def sql(self) -> str:
        """The query with names that Rocky knows, tidy."""
        return tidy(self.header + self._filled(self.text).lstrip("\n"))

    def as_dbt(self, *, incremental: bool = False) -> str:
        """The query as dbt would have compiled it, but for white space."""
        text = BLOCK.sub(r"\1", self.marked) if incremental else self.text
        return _words(MARK.sub(lambda found: self.pieces[int(found[1])].dbt, text))

    def reads(self) -> Iterator[str]:
        """The ids of what the query reads, in order."""
        for found in MARK.finditer(self.text):
            piece = self.pieces[int(found[1])]
            if piece.read:
                yield piece.read

    def block_sql(self, block: str, this: str) -> str:
        """A block with names, the table itself called `this`."""

        def name(found: re.Match[str]) -> str:
            piece = self.pieces[int(found[1])]
            return this if int(found[1]) == 0 else piece.sql

        return MARK.sub(name, block)

    def hidden(self) -> list[str]:
        """Ephemeral models whose name a CTE has where they are meant: it would be read instead."""
        ctes = find_ctes(self.text)
        return [
            piece.sql
            for found in MARK.finditer(self.text)
            for piece in (self.pieces[int(found[1])],)
            if piece.read and "." not in _in_full(piece) and piece.sql.lower() in ctes
            if not is_inside(found.start(), ctes[piece.sql.lower()])
        ]

    def _filled(self, text: str) -> str:
        """Names in the place of marks; in full where a CTE of the query has the same one."""
        ctes = find_ctes(text)

        def name(found: re.Match[str]) -> str:
            piece = self.pieces[int(found[1])]
            spans = ctes.get(piece.sql.lower())
            if spans is None or is_inside(found.start(), spans):
                return piece.sql
            return _in_full(piece)

        return MARK.sub(name, text)


def _in_full(piece: Piece) -> str:
    """A name that no CTE can have; an ephemeral model has none."""
    return piece.dbt if "." in piece.dbt else piece.sql


def render_node(project: DbtProject, node: Node, sandbox: Sandbox) -> Rendered:
    """The query of a node. What cannot be rendered is a `failure`, not an exception."""
    found = render_text(project, node, sandbox, node.text)
    return replace(found, header=_header(node.text))


def render_text(project: DbtProject, node: Node, sandbox: Sandbox, source: str) -> Rendered:
    """A text as a template of a node."""
    if _RESERVED.search(source):
        return Rendered(failure=Place(_HAS_RESERVED, node.path, None))
    rendering: _Rendering | None = None
    try:
        rendering = _Rendering(project, node, sandbox, source)
        marked = rendering.text(incremental=True)
        # What does not ask whether its table is there is the same either way.
        asks = rendering.names.asks_incremental
        text = rendering.text(incremental=False) if asks else marked
    except Unrenderable as error:
        said = rendering.names.config if rendering is not None else None
        return Rendered(failure=place_of(error, node.path), config=said)
    except RENDER_ERRORS as error:
        return Rendered(failure=place_of(error, node.path))
    names = rendering.names
    if not (_is_whole(text, names.pieces) and _is_whole(BLOCK.sub(r"\1", marked), names.pieces)):
        return Rendered(failure=Place(_HAS_RESERVED, node.path, None), config=names.config)
    return Rendered(
        text,
        marked,
        names.pieces,
        names.config,
        tuple(rendering.features),
        tuple(names.remarks),
        tuple(rendering.variables),
        asks,
    )


def _is_whole(text: str, pieces: Sequence[Piece]) -> bool:
    """Whether every mark of a text is one of ours."""
    marks = [int(each) for each in MARK.findall(text) if len(each) <= _LONGEST_NUMBER]
    ours = all(each < len(pieces) for each in marks) and len(marks) == text.count(OPEN)
    return ours and len(marks) == text.count(CLOSE)


class _Rendering:
    """A template being rendered, and what was met on the way."""

    def __init__(self, project: DbtProject, node: Node, sandbox: Sandbox, source: str) -> None:
        self._project, self._node, self._sandbox, self._source = project, node, sandbox, source
        self.names = TemplateNames(project, node, sandbox, incremental=True)
        self.features: dict[str, None] = {}
        self.variables: dict[str, None] = {}

    def text(self, *, incremental: bool) -> str:
        """The text for a table that is there, or that is new. Raises RENDER_ERRORS."""
        node = self._node
        if not incremental:
            known = self.names.pieces
            self.names = TemplateNames(self._project, node, self._sandbox, incremental=False)
            # A mark is the same in both texts, whatever stands before it in one of them.
            self.names.pieces = known
        change = _TreeChange(self.names, self.features, self.variables)
        context = self.names.of_package(node.package)
        self._sandbox.begin()
        text = load_template(self._sandbox, self._source, node.path, context, change).render()
        if len(text) > _LONGEST:
            raise Unrenderable(f"its text is longer than {_LONGEST} characters")
        return text


class _TreeChange:
    """Changes the tree of a template: what `is_incremental()` guards is marked, and `var` kept."""

    def __init__(
        self, names: TemplateNames, features: dict[str, None], variables: dict[str, None]
    ) -> None:
        self._names = names
        self._features = features
        self._variables = variables

    def __call__(self, tree: nodes.Template) -> None:
        for each in tree.find_all(nodes.If):
            if _called(each.test) == "is_incremental":
                each.body = [_output(ADDED), *each.body, _output(ADDED_END)]
            else:
                self._features["a condition"] = None
        for kind, said in (
            (nodes.For, "a loop"),
            (nodes.Assign, "`set`"),
            (nodes.AssignBlock, "`set`"),
        ):
            if next(tree.find_all(kind), None) is not None:
                self._features[said] = None
        for call in tree.find_all(nodes.Call):
            self._note_call(call)
        for output in tree.find_all(nodes.Output):
            output.nodes = [self._kept(each) for each in output.nodes]

    def _note_call(self, call: nodes.Call) -> None:
        name = _called(call)
        if name is None and isinstance(call.node, nodes.Getattr):
            inner = call.node.node
            if isinstance(inner, nodes.Name) and inner.name not in ("config", "loop"):
                name = f"{inner.name}.{call.node.attr}"
        if name is not None and name not in _AS_THEY_ARE:
            self._features[f"`{name}`"] = None

    def _kept(self, each: nodes.Expr) -> nodes.Expr:
        """`{{ var('x') }}` as `@var(x, default)`, where its value can stand there."""
        name = _constant(each, "var")
        if name is None or not name.isidentifier():
            return each
        value = self._names.variable(name)
        written = str(value) if isinstance(value, str | int | float) else ""
        if isinstance(value, bool) or _PLAIN_VALUE.fullmatch(written) is None:
            return each
        self._variables[name] = None
        mark = self._names.mark(Piece(f"@var({name}, {written})", written))
        return nodes.TemplateData(mark)


def _called(node: nodes.Node | None) -> str | None:
    if isinstance(node, nodes.Call) and isinstance(node.node, nodes.Name):
        return node.node.name
    return None


def _constant(node: nodes.Node, function: str) -> str | None:
    """The text that a function is called with, if it is that and nothing else."""
    if _called(node) != function or not isinstance(node, nodes.Call):
        return None
    first = node.args[0] if len(node.args) in (1, 2) and not node.kwargs else None
    return first.value if isinstance(first, nodes.Const) and isinstance(first.value, str) else None


def _output(text: str) -> nodes.Output:
    return nodes.Output([nodes.TemplateData(text)])


def _header(text: str) -> str:
    """Comments of Jinja at the top, as comments of SQL."""
    lines: list[str] = []
    at = 0
    while (found := _HEADER.match(text, at)) is not None:
        lines += [f"-- {each.strip()}".rstrip() for each in found["said"].strip().splitlines()]
        at = found.end()
    return "".join(f"{each}\n" for each in lines)


def tidy(sql: str) -> str:
    """A query without blank lines at its ends, and none that follow each other."""
    return _BLANKS.sub("\n\n", _TRAILING.sub("", sql)).strip("\n") + "\n"


def _words(text: str) -> str:
    return " ".join(text.split())

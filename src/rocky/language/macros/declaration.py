"""Declarations: `CREATE MACRO name(parameter KIND [DEFAULT value], ...) [COMMENT ...] RETURN ...`.

It is how Spark declares a SQL function, with kinds of syntax in the place of types: a macro is
expanded before there are types.
"""

import re
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, get_args

from rocky.diagnostics.diagnostic import Span
from rocky.language.macros.calls import RESERVED, WrittenArgument, split_list

Kind = Literal["column", "expression", "literal", "table", "type"]
KINDS: Final = get_args(Kind)
FORM: Final = "CREATE MACRO name(parameter EXPRESSION, ...) RETURN ..."

_HEAD: Final = re.compile(
    r"\s*CREATE\s+MACRO\s+(?P<name>[A-Za-z_]\w*)\s*\(", re.IGNORECASE | re.ASCII
)
_COMMENT: Final = re.compile(
    r"\s*COMMENT\s+(?P<text>'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")", re.IGNORECASE | re.DOTALL
)
_RETURN: Final = re.compile(r"\s*RETURN\b\s*", re.IGNORECASE)
_PARAMETER: Final = re.compile(
    r"(?P<name>[A-Za-z_]\w*)(?:\s+(?P<kind>\w+))?(?:\s+DEFAULT\b\s*(?P<default>.*))?",
    re.IGNORECASE | re.DOTALL | re.ASCII,
)
_WORD: Final = re.compile(r"\S+")


class Parameter(NamedTuple):
    """A parameter of a macro; `span` is its whole declaration, `default` the place of a value."""

    name: str
    kind: Kind
    span: Span
    default: Span | None = None

    @property
    def key(self) -> str:
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Declaration:
    """What a file says of its macro, and where its body is. `head` is the place of its name."""

    name: str
    parameters: tuple[Parameter, ...]
    comment: str | None
    head: Span
    body: Span

    @property
    def key(self) -> str:
        return self.name.lower()

    @property
    def signature(self) -> str:
        """The macro as it is called, with the kinds of its parameters."""
        listed = ", ".join(f"{each.name} {each.kind.upper()}" for each in self.parameters)
        return f"@{self.name}({listed})"

    def parameter(self, name: str) -> Parameter | None:
        return next((each for each in self.parameters if each.key == name.lower()), None)


class DeclarationProblem(NamedTuple):
    """Why a text declares no macro."""

    message: str
    span: Span
    help: str | None = None


def parse_declaration(text: str) -> Declaration | DeclarationProblem:
    """The macro that a text without comments declares, or the first thing that is wrong with it."""
    head = _HEAD.match(text)
    if head is None:
        word = _WORD.search(text)
        span = Span(*word.span()) if word else Span(0, 0)
        return DeclarationProblem("this does not declare a macro", span, f"write `{FORM}`")
    name = Span(*head.span("name"))
    if head["name"].lower() in RESERVED:
        return DeclarationProblem(
            f"`@{head['name']}` has a meaning already", name, "give the macro another name"
        )
    items, end, closed = split_list(text, head.end())
    if not closed:
        return DeclarationProblem("the list of parameters is not closed", name, f"write `{FORM}`")
    parameters: list[Parameter] = []
    for item in items:
        read = _parameter(text, item, parameters)
        if isinstance(read, DeclarationProblem):
            return read
        parameters.append(read)
    comment = _COMMENT.match(text, end)
    end = comment.end() if comment else end
    returned = _RETURN.match(text, end)
    stop = len(text.rstrip().removesuffix(";").rstrip())
    if returned is None or returned.end() >= stop:
        word = _WORD.search(text, end)
        span = Span(*word.span()) if word and returned is None else name
        return DeclarationProblem(
            "a macro says what it stands for after RETURN", span, f"write `{FORM}`"
        )
    return Declaration(
        head["name"],
        tuple(parameters),
        comment["text"][1:-1] if comment else None,
        name,
        Span(returned.end(), stop),
    )


def _parameter(
    text: str, item: WrittenArgument, before: list[Parameter]
) -> Parameter | DeclarationProblem:
    span = item.span
    found = _PARAMETER.fullmatch(text, *span)
    if found is None or found["name"].lower() in RESERVED:
        return DeclarationProblem(
            f"`{text[slice(*span)]}` does not declare a parameter", span, f"write `{FORM}`"
        )
    name, kind = found["name"], (found["kind"] or "").lower()
    if kind not in KINDS:
        kinds = ", ".join(each.upper() for each in KINDS)
        said = f"`{found['kind']}` is not a kind of parameter"
        return DeclarationProblem(
            said if kind else f"the parameter `{name}` has no kind",
            Span(*found.span("kind")) if kind else span,
            f"a kind is one of {kinds}: macros are expanded before there are types",
        )
    if any(each.key == name.lower() for each in before):
        return DeclarationProblem(f"there are two parameters `{name}`", span, "rename one")
    default = None
    if found["default"] is not None:
        default = Span(*found.span("default"))
        if default.start == default.end:
            return DeclarationProblem(f"the default of `{name}` is missing", span)
    elif any(each.default is not None for each in before):
        return DeclarationProblem(
            f"`{name}` has no default and stands after a parameter that has one",
            span,
            "put parameters with defaults last",
        )
    return Parameter(name, kind, span, default)  # type: ignore[arg-type]  # it is one of KINDS

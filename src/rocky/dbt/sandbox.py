"""The sandbox in which templates of a dbt project are rendered.

A template is a stranger's program. It sees what it is handed and nothing else: no attribute with an
underscore, no modules, no environment, no files. Its loops and macros are counted and timed.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from rocky.errors import RockyError, needs_extra

with needs_extra("dbt"):
    from jinja2 import Template, TemplateError, TemplateSyntaxError, Undefined, nodes
    from jinja2.exceptions import SecurityError, UndefinedError
    from jinja2.sandbox import SandboxedEnvironment

_LONGEST: Final = 1_000_000
"""No product of a text or a list is longer, and no power larger."""
MOST_ROUNDS: Final = 1_000_000
"""How many rounds of loops and calls of macros one rendering may have."""
MOST_SECONDS: Final = 30.0
"""How long one rendering may take, as its loops and macros see it."""
_MOST_BITS: Final = 100_000
RENDER_ERRORS: Final = (
    TemplateError,
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    MemoryError,
    RuntimeError,
    SyntaxError,
    TypeError,
    ValueError,
)
"""What a template can raise by what it says; ours is RockyError."""
_TAG: Final = re.compile(
    r"\{(?P<kind>[%#])(?P<left>[-+]?)(?P<said>.*?)(?P<right>[-+]?)(?P=kind)\}", re.DOTALL
)


Clock = Callable[[], float]
"""Seconds since some moment."""


def no_clock() -> float:
    """A clock that stands still: only rounds are counted."""
    return 0.0


class Unrenderable(RockyError):
    """A template asks for what only a run of dbt has."""


class Missing(Undefined):
    """A name that nothing has: false in a condition, an error wherever else it is used."""

    __slots__ = ()
    __str__ = __iter__ = __len__ = __call__ = Undefined._fail_with_undefined_error  # noqa: SLF001 - as the library's own strict one is made

    def __bool__(self) -> bool:
        return False


class Sandbox(SandboxedEnvironment):
    """Jinja as dbt has it, without a way out. Lines that hold a tag only leave none behind."""

    intercepted_binops = frozenset({"*", "**"})

    def __init__(self, clock: Clock = no_clock) -> None:
        self._clock = clock
        super().__init__(
            extensions=["jinja2.ext.do", "jinja2.ext.loopcontrols"],
            undefined=Missing,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
        )
        self.filters.update(as_bool=bool, as_number=_number, as_native=_same, as_text=str)
        # It writes as many paragraphs as it is asked for, and dbt's templates have no use for it.
        del self.globals["lipsum"]
        self.begin()

    def begin(self) -> None:
        """Count rounds and time from now: a rendering begins."""
        self._rounds = 0
        self._until = self._clock() + MOST_SECONDS

    def count_round(self) -> None:
        """A round of a loop or a call of a macro begins. Raises Unrenderable after too many."""
        self._rounds += 1
        if self._rounds > MOST_ROUNDS:
            raise Unrenderable(f"its loops and macros go on for more than {MOST_ROUNDS:,} rounds")
        if self._clock() > self._until:
            raise Unrenderable(f"it is not rendered after {MOST_SECONDS:.0f} seconds")

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        """A product or a power, unless it would fill the memory. Raises SecurityError."""
        if operator == "**":
            if isinstance(right, int | float) and abs(right) > 64:
                raise SecurityError("the power is too large")
            if isinstance(left, int) and isinstance(right, int):
                _refuse_bits(left.bit_length() * right)
        elif isinstance(left, int) and isinstance(right, int):
            _refuse_bits(left.bit_length() + right.bit_length())
        else:
            for one, other in ((left, right), (right, left)):
                if isinstance(one, str | list | tuple) and isinstance(other, int):
                    _refuse_length(len(one) * other)
        return super().call_binop(context, operator, left, right)


def _refuse_length(length: int) -> None:
    if length > _LONGEST:
        raise SecurityError("the text is too long")


def _refuse_bits(bits: int) -> None:
    """Numbers that grow in a loop would keep the processor busy where nothing can stop it."""
    if bits > _MOST_BITS:
        raise SecurityError("the number is too large")


def _number(value: Any) -> Any:
    text = str(value)
    return float(text) if "." in text else int(text)


def _same(value: Any) -> Any:
    return value


@dataclass(frozen=True, slots=True)
class Place:
    """Why a template could not be rendered, and at which line of which file."""

    reason: str
    path: str
    line: int | None


Transform = Callable[[nodes.Template], None]


def load_template(
    sandbox: Sandbox,
    text: str,
    path: str,
    names: Mapping[str, Any],
    transform: Transform | None = None,
) -> Template:
    """A template over names; `transform` may change its tree before. Raises RENDER_ERRORS."""
    tree = sandbox.parse(_with_line_ends(text), name=path, filename=path)
    if transform is not None:
        transform(tree)
    _count_rounds(tree)
    code = sandbox.compile(tree, name=path, filename=path)
    # Jinja's own names (`range`, `namespace`) may be hidden by those that are handed in.
    known = {**sandbox.globals, **names}
    return sandbox.template_class.from_code(sandbox, code, known, None)


def _count_rounds(tree: nodes.Template) -> None:
    """Have every round of a loop and every call of a macro counted, by a call at its beginning.

    The call names an attribute of the sandbox, so that nothing in the template can stand for it.
    """
    blocks: list[nodes.For | nodes.Macro | nodes.CallBlock] = [
        *tree.find_all(nodes.For),
        *tree.find_all(nodes.Macro),
        *tree.find_all(nodes.CallBlock),
    ]
    for each in blocks:
        tick = nodes.Call(nodes.EnvironmentAttribute("count_round"), [], [], None, None)
        each.body = [nodes.ExprStmt(tick).set_lineno(each.lineno), *each.body]


def _with_line_ends(text: str) -> str:
    """The text with a `+` wherever the environment would trim and dbt does not.

    Only a tag that has its lines to itself, and says nothing of white space, leaves none behind.
    """

    def keep(found: re.Match[str]) -> str:
        kind, left, said, right = found["kind"], found["left"], found["said"], found["right"]
        start, end = found.span()
        before = text[text.rfind("\n", 0, start) + 1 : start]
        stop = text.find("\n", end)
        after = text[end : len(text) if stop < 0 else stop]
        if not (left or right or before.strip() or after.strip()):
            return found.group()
        return f"{{{kind}{left or '+'}{said}{right or '+'}{kind}}}"

    return _TAG.sub(keep, text)


def place_of(error: BaseException, path: str) -> Place:
    """Where a template failed: the last of its own lines on the way there, if any is known."""
    line: int | None = None
    if isinstance(error, TemplateSyntaxError):
        line = error.lineno
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == path:
            line = trace.tb_lineno
        trace = trace.tb_next
    return Place(_reason(error), path, line)


def _reason(error: BaseException) -> str:
    if isinstance(error, Unrenderable):
        return str(error)
    if isinstance(error, RecursionError):
        return "its macros call each other without end, or it is nested too deep"
    if isinstance(error, MemoryError):
        return "it asks for more memory than there is, or is nested too deep"
    # Of a SyntaxError the rest is a line of the Python that Jinja makes, which nobody has seen.
    said = (error.msg if isinstance(error, SyntaxError) else str(error)).splitlines()
    first = said[0] if said else type(error).__name__
    if isinstance(error, UndefinedError):
        return f"{first}; if a package has it, run `dbt deps` and import again"
    return first

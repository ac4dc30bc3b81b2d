"""A TOML document of the project: parsed, variables resolved, problems put in their place.

A `Problem` names the path of keys where something is wrong; only a `Document` knows the text, so it
alone turns a problem into a `Diagnostic` with a span. Rules for values are written beside a type,
`Annotated[int, AtLeast(1)]`. A document with variables depends on the environment, so its digest is
that of its values, and gives none of them away.
"""

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, NamedTuple, TypeVar

from blake3 import blake3

from rocky.canonical import ascii_json
from rocky.diagnostics import Code, Diagnostic, Label
from rocky.diagnostics.diagnostic import SourceText, Span
from rocky.project.files import Report
from rocky.project.toml.parser import find_absurdity, locate_keys, parse_plain
from rocky.project.toml.variables import Keys, quote_bare_references, resolve_variables


class Problem(NamedTuple):
    """Something wrong at a path of keys.

    `on_key` points at the key instead of its value; `offset` at one character of a text value.
    """

    keys: Keys
    message: str
    help: str | None = None
    on_key: bool = False
    offset: int | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """Parsed TOML and where it came from. `start` is its offset in the file's text."""

    path: str
    text: str
    data: dict[str, Any]
    start: int = 0
    code: Code = Code.UNUSABLE_FILE

    def span_of(self, keys: Keys, *, on_key: bool = False) -> Span | None:
        """The place of a key or its value; of the nearest table around it when it is absent."""
        places = locate_keys(self.text)
        while keys:
            place = places.get(keys)
            if place:
                span = place.key if on_key else place.value
                return Span(span.start + self.start, span.end + self.start)
            keys, on_key = keys[:-1], False
        return None

    def diagnose(
        self, problem: Problem, labels: tuple[Label, ...] = (), model: str | None = None
    ) -> Diagnostic:
        span = self.span_of(problem.keys, on_key=problem.on_key)
        if span and problem.offset is not None:
            span = self._inside(span, problem.offset)
        return Diagnostic(
            self.code,
            problem.message,
            span,
            self.path,
            labels=labels,
            help=problem.help,
            model=model,
        )

    def _inside(self, span: Span, offset: int) -> Span:
        """From a character of a text value to the value's end; all of it when unsure."""
        value = self.text[span.start - self.start : span.end - self.start]
        plain = value[:1] in ("'", '"') and value[:3] not in ("'''", '"""')
        if not plain or "\\" in value or "${" in value or offset >= len(value) - 2:
            return span
        return Span(span.start + 1 + offset, span.end - 1)


def parse_document(
    path: str,
    text: str,
    env: Mapping[str, str],
    report: Report,
    code: Code = Code.UNUSABLE_FILE,
    start: int = 0,
    model: str | None = None,
) -> Document | None:
    """The document, or None once its syntax error is reported."""
    data = parse_plain(text)
    if data is None:
        absurdity = find_absurdity(text)
        if absurdity is not None:
            message, span = absurdity
            place = Span(span.start + start, span.end + start)
            report(Diagnostic(code, message, place, path, model=model))
            return None
        source = quote_bare_references(text) if "${" in text else text
        try:
            data = tomllib.loads(source)
        except tomllib.TOMLDecodeError as failure:
            report(_syntax_error(path, text, start, str(failure), code, model))
            return None
        except RecursionError:
            report(Diagnostic(code, f"`{path}` nests values too deeply", None, path, model=model))
            return None
    document = Document(path, text, data, start, code)
    if "${" not in text:
        return document

    def missing(keys: Keys, name: str) -> None:
        help_text = f"set it, or give a default: `${{{name}:-value}}`"
        if keys in _SECRETS:
            help_text = "set it; a default would be a secret in a file"
        problem = Problem(keys, f"the environment variable `{name}` is not set", help=help_text)
        report(document.diagnose(problem, model=model))

    return Document(path, text, resolve_variables(data, env, missing), start, code)


_SECRETS: Final = (("governance", "hash_key"), ("governance", "catalog", "token"))
"""Keys whose values only come from the environment: a default of theirs is refused."""
_WHERE: Final = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
_KEY_TUPLE: Final = re.compile(r"\((?:'[^']*',? ?)+\)")
_KEY_NAME: Final = re.compile(r"'([^']*)'")
_HELP: Final = (
    ("Expected '=' after a key", "write `key = value`"),
    ("Invalid value", 'texts need quotes: `key = "text"`'),
    ("Invalid statement", "a line is `key = value`, `[table]` or a `# comment`"),
    ("Unclosed array", "close the list with `]`"),
    ("Unterminated string", "close the text with its quote"),
    ("Illegal character '\\n'", "close the text with its quote before the line ends"),
    ("Unescaped '\\\\'", "write `\\\\`, or use single quotes: 'text'"),
    ("twice", "keep one of the two"),
    ("Cannot overwrite", "keep one of the two"),
    ("newline or end of document", "put each key on its own line"),
)


def _syntax_error(
    path: str, text: str, start: int, said: str, code: Code, model: str | None
) -> Diagnostic:
    where = _WHERE.search(said)
    reason = said[: where.start()] if where else said
    reason = _KEY_TUPLE.sub(lambda keys: f"`{'.'.join(_KEY_NAME.findall(keys[0]))}`", reason)
    source = SourceText(path, text)
    if where and where[1]:
        line = min(int(where[1]), len(source.line_starts))
        span = source.line_span(line)
        at = min(span.start + int(where[2]) - 1, max(span.end - 1, span.start))
        span = Span(at, max(span.end, at))
    else:
        at = len(text.rstrip())
        span = Span(max(at - 1, 0), at)
        reason += " at the end of the file"
    tab = "\t" in source.line_text(source.line_of(span.start)).strip()
    help_text = next((hint for sign, hint in _HELP if sign in reason), None)
    if tab:
        help_text = "there is a tab on this line" + (f"; {help_text}" if help_text else "")
    return Diagnostic(
        code,
        f"not valid TOML: {reason[:1].lower()}{reason[1:]}",
        Span(span.start + start, span.end + start),
        path,
        help=help_text,
        model=model,
    )


def digest_data(document: Document) -> bytes:
    """A BLAKE3 digest that changes when the document or a variable in it does."""
    if "${" not in document.text:
        return blake3(document.text.encode()).digest()
    data = ascii_json(document.data, default=str)
    return blake3(f"{document.text}\0{data}".encode()).digest()


Problems = list[Problem]
Reader = Callable[[Any, Keys, Problems], Any]


class AtLeast(NamedTuple):
    """A rule: the number may not be smaller."""

    least: float


class Between(NamedTuple):
    """A rule: the number lies between the two, ends included."""

    least: float
    most: float


class Parsed(NamedTuple):
    """A rule: the value goes through `parse`, whose ValueError is the message."""

    parse: Callable[[Any], Any]


class ReadBy(NamedTuple):
    """A rule: this reader reads the value. `words` say what it may be, where its type does not."""

    reader: Reader
    words: str = ""


class Tagged(NamedTuple):
    """A rule: the table's `type` chooses the record whose `type` field has that default.

    A bare text stands for a table with nothing but its type. Without a `type` it is the one that a
    key among `signs` stands for, else the default.
    """

    records: tuple[type, ...]
    default: str | None = None
    noun: str = "type"
    signs: tuple[tuple[str, str], ...] = ()

    def name_owner(self, problem: Problem, at: Keys) -> Problem:
        """A problem of the table at `at`; an unknown key that another type knows says which."""
        key = problem.keys[-1] if problem.keys[:-1] == at else None
        if not problem.message.startswith(f"unknown key `{key}`"):
            return problem
        records: tuple[Any, ...] = self.records
        owners = [each._field_defaults["type"] for each in records if key in each._fields]
        listed = " or ".join(f"`{each}`" for each in owners)
        help_text = f"it belongs to a {self.noun} of type {listed}"
        return problem._replace(help=help_text) if owners else problem


class Refusal(NamedTuple):
    """Why a key is not supported and what to do instead; `later` for one that is to come."""

    reason: str
    help: str
    later: bool = False


Decorated = TypeVar("Decorated", bound=type)
_REFUSED: Final[dict[type, Mapping[str, Refusal]]] = {}


def refuses(**keys: Refusal) -> Callable[[Decorated], Decorated]:
    """Decorates a record with keys that a table may not have although people would look for them.

    They are refused rather than unknown, because nothing is worse than a setting without effect.
    """

    def declare(record: Decorated) -> Decorated:
        _REFUSED[record] = keys
        return record

    return declare


def refused_keys(record: type) -> Mapping[str, Refusal]:
    """The keys that a record refuses."""
    return _REFUSED.get(record, {})


NonNegative = Annotated[int, AtLeast(0)]
Days = Annotated[int, Between(0, 100_000)]
"""A time back from now that a calendar has: some 270 years."""
Positive = Annotated[int, AtLeast(1)]
Amount = Annotated[float, AtLeast(0)]
Factor = Annotated[float, AtLeast(1)]
Percent = Annotated[float, Between(0, 100)]

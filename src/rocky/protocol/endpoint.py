"""An endpoint: a question about the project that has an address, and the report that answers it.

The arguments of an address are texts; each is read by its parameter, and one that nobody declared
is refused, so that a misspelt one is never taken for "all".
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import parse_qs

from rocky.diagnostics.suggestion import suggestion
from rocky.errors import InvalidRequest, NothingSelected, RockyError, describe_failure
from rocky.operations.report import encode_report

# A server reads addresses before it has loaded what answers them.
if TYPE_CHECKING:
    from rocky.protocol.memory import Memory

API: Final = "/api/v1/"
"""Where the protocol is. Another number is another protocol; fields are only ever added to one."""
_LONGEST: Final = 2000
_MOST_DIGITS: Final = 18
_NOT_FOUND: Final = 404
_REFUSED: Final = 422
_FLAGS: Final = {"true": True, "1": True, "": True, "false": False, "0": False}

Arguments = Mapping[str, Any]


class Parameter(NamedTuple):
    """An argument: a text, a number (`int`) or a flag (`bool`); `many` may be said repeatedly."""

    name: str
    about: str
    kind: type = str
    many: bool = False
    required: bool = False
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A question, with the types of its report.

    An answer `is_kept` until something changes. One that `shows_values` has rows, or reads whole
    tables: it is for the person whose project it is, and never for a team or an assistant. One that
    `may_quote` has texts of failures, which may quote a row, or how far a table is loaded, which is
    a value of it: others get it without them.
    """

    name: str
    about: str
    reports: tuple[Any, ...]
    answer: "Callable[[Memory, Arguments], Any]"
    parameters: tuple[Parameter, ...] = ()
    is_kept: bool = True
    shows_values: bool = False
    may_quote: bool = False


class Failure(NamedTuple):
    """What went wrong, as a status of HTTP and as a document."""

    status: int
    document: dict[str, Any]


def parse_query(parameters: Sequence[Parameter], query: str) -> Arguments:
    """The arguments of an address. Raises InvalidRequest."""
    if len(query) > _LONGEST:
        raise InvalidRequest(f"the question is longer than {_LONGEST} characters")
    try:
        given = parse_qs(query, keep_blank_values=True, max_num_fields=50, errors="strict")
    except ValueError as error:
        raise InvalidRequest("the question is no list of `name=value`") from error
    return parse_arguments(parameters, given)


def parse_arguments(
    parameters: Sequence[Parameter], given: Mapping[str, Sequence[str]]
) -> Arguments:
    """Arguments by name, as their parameters read them. Raises InvalidRequest."""
    known = {each.name: each for each in parameters}
    for name in given:
        if name not in known:
            hint = suggestion(name, known) or (
                "there is " + ", ".join(f"`{each}`" for each in known) if known else "none is taken"
            )
            raise InvalidRequest(f"no argument `{name}`; {hint}")
    return {each.name: _read(each, given.get(each.name, ())) for each in parameters}


def _read(parameter: Parameter, texts: Sequence[str]) -> Any:
    if parameter.many:
        return tuple(texts)
    if not texts:
        if parameter.required:
            raise InvalidRequest(f"`{parameter.name}` is missing: {parameter.about}")
        return False if parameter.kind is bool else None
    if len(texts) > 1:
        raise InvalidRequest(f"`{parameter.name}` is said more than once")
    (text,) = texts
    if parameter.choices and text not in parameter.choices:
        listed = ", ".join(f"`{each}`" for each in parameter.choices)
        raise InvalidRequest(f"`{parameter.name}` is one of {listed}, not `{text}`")
    if parameter.kind is bool:
        if text.lower() not in _FLAGS:
            raise InvalidRequest(f"`{parameter.name}` is `true` or `false`, not `{text}`")
        return _FLAGS[text.lower()]
    if parameter.kind is int:
        if not (text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS):
            raise InvalidRequest(f"`{parameter.name}` is a number, not `{text}`")
        return int(text)
    return text


def without_quotes(endpoint: Endpoint, document: dict[str, Any]) -> dict[str, Any]:
    """A document without the texts that may quote a row, and without how far tables are loaded."""
    found: dict[str, Any] = _without(document)
    # Why a run ended may quote a row; why a model would be built does not.
    left_out = ("reason", "log") if endpoint.may_quote else ()
    return {name: value for name, value in found.items() if name not in left_out}


def _without(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without(each) for name, each in value.items() if name not in _QUOTING}
    return [_without(each) for each in value] if isinstance(value, list) else value


_QUOTING: Final = frozenset(
    {"error", "observed", "expected", "failed_sources", "watermark", "watermark_before"}
)


def describe_error(failure: Exception) -> Failure:
    """A failure as callers are told of it, in the form of the command line's JSON."""
    kind = getattr(failure, "kind", type(failure).__name__)
    error: dict[str, Any] = {"kind": kind, "message": describe_failure(failure)}
    found = getattr(failure, "diagnostics", ())
    if found:
        error["diagnostics"] = [encode_report(each) for each in found]
    if isinstance(failure, InvalidRequest):
        return Failure(400, {"error": error})
    if isinstance(failure, NothingSelected):
        return Failure(_NOT_FOUND, {"error": error})
    return Failure(_REFUSED if isinstance(failure, RockyError) else 500, {"error": error})


def parse_body(body: bytes) -> dict[str, list[str]]:
    """The arguments of an action: an object of texts, flags and lists of texts."""
    try:
        found = json.loads(body or b"{}")
    except (ValueError, RecursionError) as error:
        raise InvalidRequest("what was sent is no JSON") from error
    if not isinstance(found, dict):
        raise InvalidRequest("an action is asked for with an object")
    return {name: _texts(name, value) for name, value in found.items()}


def _texts(name: str, value: Any) -> list[str]:
    values = value if isinstance(value, list) else [value]
    if not all(isinstance(each, str | bool) for each in values):
        raise InvalidRequest(f"`{name}` is a text, a flag, or a list of texts")
    return [str(each).lower() if isinstance(each, bool) else each for each in values]

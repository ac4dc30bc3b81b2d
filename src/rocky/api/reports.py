"""Reports as JSON from Python: what `-o json` prints, without its `version` and `command`."""

from typing import Any

from rocky.errors import InvalidRequest
from rocky.operations.report import encode_report, format_report, is_report


def to_dict(report: Any) -> dict[str, Any]:
    """A report, or a part of one, as values that JSON has. Raises InvalidRequest for others."""
    _refuse_others(report)
    return encode_report(report)


def to_json(report: Any, *, indent: int | None = None) -> str:
    """The same as JSON text, on one line unless it is to be indented."""
    _refuse_others(report)
    separators = None if indent else (",", ":")
    return format_report({}, report, indent=indent, separators=separators, ensure_ascii=False)


def _refuse_others(report: Any) -> None:
    if not is_report(report):
        raise InvalidRequest(f"`report` is what an operation came to, not {report!r}")

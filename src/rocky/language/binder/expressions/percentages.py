"""The percentages of `percentile` and its like, where they are written out: each from 0 to 1."""

from fractions import Fraction
from typing import Any, Final

from sqlglot import exp

from rocky.language.functions.operand import Refusal

_SECOND: Final = frozenset({"percentile", "percentile_approx", "approx_percentile"})
_ORDERED: Final = frozenset({"percentile_cont", "percentile_disc"})


def check_percentages(key: str, node: Any) -> None:
    """Raises Refusal for a percentage that cannot be one; what is not written out is let pass."""
    if key not in _SECOND and key not in _ORDERED:
        return
    call = node.args["this"] if node.__class__ is exp.WithinGroup else node
    index = 1 if key in _SECOND else 0
    arguments = call.args.get("expressions") or []
    if len(arguments) <= index:
        return
    written = arguments[index]
    for each in written.args["expressions"] if written.__class__ is exp.Array else [written]:
        value = _value(each)
        if value is not None and not 0 <= value <= 1:
            raise Refusal(
                "DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE",
                f"the percentage of `{key}` must be between 0 and 1, not {float(value):g}",
                index,
            )


def _value(node: Any) -> Fraction | None:
    kind = node.__class__
    if kind is exp.Paren:
        return _value(node.args["this"])
    if kind is exp.Neg:
        inner = _value(node.args["this"])
        return None if inner is None else -inner
    if kind in (exp.Add, exp.Sub, exp.Mul):
        left, right = _value(node.args["this"]), _value(node.args["expression"])
        if left is None or right is None:
            return None
        if kind is exp.Mul:
            return left * right
        return left + right if kind is exp.Add else left - right
    if kind is exp.Literal and not node.args["is_string"]:
        text = str(node.args["this"])
        return Fraction(text) if text.replace(".", "", 1).isdigit() else None
    return None

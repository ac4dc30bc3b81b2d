"""Operators between two values, with parentheses where a person would write them."""

from typing import Final

from rocky.frames.fragments import ADDED, AND, COMPARED, MULTIPLIED, OR, Fragment, operand, sql
from rocky.frames.sites import Site

INFIX: Final = {
    "+": "+", "-": "-", "*": "*", "/": "/", "%": "%", "==": "=", "=": "=", "<=>": "<=>",
    "<": "<", ">": ">", "<=": "<=", ">=": ">=", "and": "AND", "or": "OR", "&": "&", "|": "|",
    "^": "^", "like": "LIKE", "rlike": "RLIKE", "ilike": "ILIKE", "div": "DIV",
}  # fmt: skip
_LEVELS: Final = {
    "OR": OR, "AND": AND, "=": COMPARED, "<=>": COMPARED, "<": COMPARED, ">": COMPARED,
    "<=": COMPARED, ">=": COMPARED, "LIKE": COMPARED, "RLIKE": COMPARED, "ILIKE": COMPARED,
    "+": ADDED, "-": ADDED, "*": MULTIPLIED, "/": MULTIPLIED, "%": MULTIPLIED, "DIV": MULTIPLIED,
}  # fmt: skip


def infix(sign: str, pair: list[Fragment], site: Site | None) -> Fragment:
    """An operator between two values; what is rarely seen keeps its parentheses."""
    level = _LEVELS.get(sign)
    if level is None:
        left, right = (operand(each) for each in pair)
        return sql("(", left, f" {sign} ", right, ")", site=site)
    left = operand(pair[0], level + 1 if level == COMPARED else level)
    return sql(left, f" {sign} ", operand(pair[1], level + 1), site=site, level=level)

"""Temporary functions: the statements that make declared SQL functions in a session of Spark."""

from collections.abc import Iterable, Iterator, Mapping

from rocky.language.datatypes.text import format_type
from rocky.language.names import quote_name
from rocky.project.functions import ProjectFunction


def create_statement(function: ProjectFunction) -> str:
    """The statement that makes a SQL function in a session."""
    told = function.signature
    parameters = ", ".join(
        f"{quote_name(each.name)} {format_type(each.type)}"
        + (f" DEFAULT {each.default}" if each.default is not None else "")
        for each in told.parameters
    )
    if told.columns is not None:
        columns = ", ".join(
            f"{quote_name(each.name)} {format_type(each.type)}" for each in told.columns
        )
        returns = f" RETURNS TABLE ({columns})" if columns else " RETURNS TABLE"
    else:
        returns = f" RETURNS {format_type(told.returns)}" if told.returns is not None else ""
    chance = " NOT DETERMINISTIC" if told.deterministic is False else ""
    return (
        f"CREATE OR REPLACE TEMPORARY FUNCTION {quote_name(told.name)}({parameters})"
        f"{returns}{chance} RETURN {told.body}"
    )


def in_order_of_need(
    functions: Mapping[str, ProjectFunction], keys: Iterable[str]
) -> Iterator[ProjectFunction]:
    """The functions of these keys and all that their bodies call, each after what it calls.

    Spark looks up what a body calls when the function is made.
    """
    met: set[str] = set()

    def walk(key: str) -> Iterator[ProjectFunction]:
        if key in met:
            return
        met.add(key)
        for other in sorted(functions[key].calls):
            yield from walk(other)
        yield functions[key]

    for key in keys:
        yield from walk(key)

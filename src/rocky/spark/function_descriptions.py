"""What Spark says of a function that somebody else made: its parameters and what it gives.

Only of functions in SQL does it know them, and it tells them as settings in the text of a
description. Of code it knows that there is some.
"""

import json
from collections.abc import Sequence
from typing import Any, Final

from rocky.errors import AdapterUnusable
from rocky.language.datatypes.text import TypeSyntaxError, parse_schema, parse_type
from rocky.language.declared_functions import DeclaredFunction, FunctionParameter
from rocky.language.names import quote_name
from rocky.project.function_statements import StatementFault, parse_statement
from rocky.spark.failures import SPARK_ERRORS, classify_failure

_USAGE: Final = "Usage: "
_SETTING: Final = "sqlFunction."


def describe_function(session: Any, parts: Sequence[str]) -> DeclaredFunction | None:
    """A function of a session's; None where there is none of that name. Raises AdapterUnusable.

    One that is not `usable` is there, and Spark does not say what it takes and gives.
    """
    name, quoted = ".".join(parts), ".".join(map(quote_name, parts))
    try:
        rows = session.sql(f"DESCRIBE FUNCTION EXTENDED {quoted}").collect()
    except SPARK_ERRORS as error:
        failure = classify_failure(error)
        if failure.condition is None:
            said = f"Spark does not say whether it has a function `{name}`: {failure.message}"
            raise AdapterUnusable(said) from error
        return None
    told = next((str(row[0]) for row in rows if str(row[0]).startswith(_USAGE)), "")
    try:
        return _read(name, json.loads(told.removeprefix(_USAGE)))
    except (ValueError, KeyError, TypeSyntaxError, StatementFault):
        return DeclaredFunction(name, "catalog", usable=False)


def _read(name: str, settings: dict[str, str]) -> DeclaredFunction:
    """The function that settings describe. Raises for what cannot be read."""
    written = settings.get(f"{_SETTING}inputParam", "")
    statement = parse_statement(f"CREATE FUNCTION f({written}) RETURN 1")
    parameters = tuple(
        FunctionParameter(
            each.name.text, parse_type(each.type.text), each.default.text if each.default else None
        )
        for each in statement.parameters
    )
    returns = settings[f"{_SETTING}returnType"]
    if settings.get(f"{_SETTING}isTableFunc") == "true":
        columns = tuple(parse_schema(returns))
        return DeclaredFunction(name, "catalog", parameters, columns=columns)
    return DeclaredFunction(name, "catalog", parameters, parse_type(returns))

"""Arguments passed by name: `mask(note, digitChar => '0')`.

Few functions of Spark have names for their parameters. Their arguments are put into the order of
the parameters here, with the defaults of those left out, so that every rule sees them by position.
"""

from typing import Any, Final

from sqlglot import exp

from rocky.diagnostics import Code
from rocky.language.binder.scopes import Scope


class Parameters:
    """The names of a function's parameters in order, and the defaults of the last of them."""

    __slots__ = ("defaults", "names")

    def __init__(self, *names: str, **defaults: str | None) -> None:
        self.names = (*names, *defaults)
        self.defaults = defaults


_COLLECTION: Final = Parameters("collection")
_INPUT: Final = Parameters("input")
NAMED_PARAMETERS: Final[dict[str, Parameters]] = {
    "mask": Parameters("str", upperChar="X", lowerChar="x", digitChar="n", otherChar=None),
    "count_min_sketch": Parameters("column", "epsilon", "confidence", "seed"),
    **dict.fromkeys(("explode", "explode_outer", "posexplode", "posexplode_outer"), _COLLECTION),
    **dict.fromkeys(("inline", "inline_outer"), _INPUT),
    **dict.fromkeys(("variant_explode", "variant_explode_outer"), _INPUT),
}


class _WrongArguments(ValueError):
    """Arguments that no call of the function can have: what is wrong, and the way out."""

    def __init__(self, message: str, condition: str, way: str) -> None:
        super().__init__(message)
        self.condition = condition
        self.way = way


def by_position(key: str, nodes: list[Any], scope: Scope) -> list[Any] | None:
    """The argument nodes in the order of the parameters; None when that was refused."""
    try:
        return _ordered(key, nodes)
    except _WrongArguments as wrong:
        call = next(node for node in nodes if node.__class__ is exp.Kwarg).parent
        scope.binding.error(
            Code.UNKNOWN_FUNCTION, str(wrong), call, wrong.condition, help=wrong.way
        )
        return None


def _ordered(key: str, nodes: list[Any]) -> list[Any]:
    parameters = NAMED_PARAMETERS.get(key)
    if parameters is None:
        condition = "NON_FOLDABLE_ARGUMENT" if key == "range" else "NAMED_PARAMETERS_NOT_SUPPORTED"
        raise _WrongArguments(
            f"`{key}` takes no named parameters",
            condition,
            "pass the argument by position",
        )
    known = {name.lower(): name for name in parameters.names}
    given: dict[str, Any] = {}
    named = False
    for index, node in enumerate(nodes):
        if node.__class__ is not exp.Kwarg:
            if named:
                raise _WrongArguments(
                    f"an argument of `{key}` without a name after one with a name",
                    "UNEXPECTED_POSITIONAL_ARGUMENT",
                    "put arguments without names first",
                )
            if index < len(parameters.names):
                given[parameters.names[index]] = node
            continue
        named = True
        written = node.args["this"].name
        name = known.get(written.lower())
        if name is None:
            words = ", ".join(f"`{each}`" for each in parameters.names)
            raise _WrongArguments(
                f"`{key}` has no parameter `{written}`",
                "UNRECOGNIZED_PARAMETER_NAME",
                f"its parameters are {words}",
            )
        if name in given:
            twice = given[name].parent.__class__ is exp.Kwarg
            kind = "DOUBLE_NAMED_ARGUMENT_REFERENCE" if twice else "BOTH_POSITIONAL_AND_NAMED"
            raise _WrongArguments(
                f"`{key}` is given its parameter `{name}` twice",
                f"DUPLICATE_ROUTINE_PARAMETER_ASSIGNMENT.{kind}",
                "leave one of them out",
            )
        given[name] = node.args["expression"]
    return _filled(key, parameters, given)


def _filled(key: str, parameters: Parameters, given: dict[str, Any]) -> list[Any]:
    found: list[Any] = []
    for name in parameters.names:
        if name in given:
            found.append(given[name])
        elif name in parameters.defaults:
            text = parameters.defaults[name]
            found.append(exp.Null() if text is None else exp.Literal.string(text))
        else:
            raise _WrongArguments(
                f"`{key}` needs its parameter `{name}`",
                "REQUIRED_PARAMETER_NOT_FOUND",
                f"pass it by position or as `{name} => ...`",
            )
    return found

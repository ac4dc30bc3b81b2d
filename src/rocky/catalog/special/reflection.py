"""Calls of Java methods by name: always a nullable string, if class and method are constant."""

import re
from collections.abc import Callable, Sequence
from typing import Final

from rocky.catalog.operand import NO_VALUE, Operand, Refusal, Typing
from rocky.catalog.special.refusals import not_constant, unexpected_type, wrong_count
from rocky.datatypes import types as t

_PASSED: Final = t.INTEGRAL_KINDS | t.STRING_KINDS | {"boolean", "float", "double", "unknown"}
# Only names under `java.` can be told wrong without a JVM.
_PACKAGES: Final = re.compile(
    r"java\.(?:io|lang|math|net|nio|security|sql|text|time|util)\.[\w.$]+|(?!java\.).+"
)


def type_reflect(name: str, args: Sequence[Operand]) -> Typing | Refusal:
    """`reflect`, `java_method` and `try_reflect`."""
    if len(args) < 2:
        return wrong_count(name, "2 or more", len(args))
    for index, what in enumerate(("the class", "the method")):
        arg = args[index]
        if arg.type is t.UNKNOWN:
            continue
        if not arg.foldable or arg.type.kind not in t.STRING_KINDS:
            return not_constant(name, index, what)
    for index, arg in enumerate(args[2:], 2):
        if arg.type.kind not in _PASSED:
            return unexpected_type(name, index, "a boolean, a number or `string`", arg.type)
    label = args[0].value
    if label is not NO_VALUE and "." in str(label) and not _PACKAGES.fullmatch(str(label)):
        return Refusal("DATATYPE_MISMATCH.UNEXPECTED_CLASS_TYPE", f"there is no class `{label}`", 0)
    return t.STRING, True


REFLECTION: dict[str, Callable[[str, Sequence[Operand]], Typing | Refusal]] = {
    "reflect": type_reflect,
    "java_method": type_reflect,
    "try_reflect": type_reflect,
}

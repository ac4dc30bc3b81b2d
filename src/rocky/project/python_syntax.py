"""The syntax of a Python file, parsed once for all who look at it one after the other."""

import ast
import warnings
from functools import lru_cache


@lru_cache(maxsize=4)
def parse_python(text: str) -> ast.Module:
    """The tree of a text, which nobody changes.

    Raises SyntaxError, ValueError, RecursionError or MemoryError for what is not valid Python.
    """
    with warnings.catch_warnings():
        # An odd escape in a string is the author's to see when Python runs the file.
        warnings.simplefilter("ignore")
        return ast.parse(text)


def nodes_of(tree: ast.AST) -> list[ast.AST]:
    """The nodes of a tree, level by level, without what only says how a name is used."""
    found = [tree]
    for node in found:
        for name in node._fields:
            value = getattr(node, name, None)
            if value.__class__ is list:
                found += [each for each in value if isinstance(each, ast.AST)]
            elif isinstance(value, ast.AST) and not isinstance(value, ast.expr_context):
                found.append(value)
    return found

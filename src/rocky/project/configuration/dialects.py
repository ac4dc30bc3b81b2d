"""Names of functions and forms in settings: each must be one that the table of dialects has."""

from typing import Annotated, Any

from rocky.diagnostics.suggestion import suggestion
from rocky.project.toml.documents import Problem, Problems, ReadBy
from rocky.project.toml.records import INVALID, reader_for
from rocky.project.toml.variables import Keys, written


def _read_allowed(value: Any, at: Keys, problems: Problems) -> Any:
    read = reader_for(tuple[str, ...])(value, at, problems)
    if read is INVALID:
        return INVALID
    # The table is read only where a project names something of it.
    from rocky.language.dialects.table import names  # noqa: PLC0415

    known = names()
    for index, name in enumerate(read):
        if name.lower() not in known:
            problems.append(
                Problem(
                    (*at, index),
                    f"`{written(name)}` is neither a function of Spark nor a form that dialects"
                    " read otherwise",
                    suggestion(written(name), known)
                    or "`rocky explain P001` says what can be allowed",
                )
            )
    return tuple(name for name in read if name.lower() in known)


Allowed = Annotated[tuple[str, ...], ReadBy(_read_allowed)]
"""Functions and forms that may be read otherwise."""

"""Explanations: the long text of a code, one Markdown page each in the folder `explanations`.

The pages are package data, read only when asked for.
"""

from importlib.resources import files

from rocky.diagnostics.suggestion import closest_code, code_named, neighbouring_codes
from rocky.errors import NothingSelected


def explanation(code_or_name: str) -> str:
    """The page of a code, found by code or by name. Raises `NothingSelected` when there is none."""
    info = code_named(code_or_name)
    if info is None:
        near = closest_code(code_or_name)
        beside = ", ".join(f"`{each}`" for each in neighbouring_codes(code_or_name))
        hint = f"did you mean `{near}`?" if near else "`rocky explain` lists every code"
        if beside and not near:
            hint = f"the nearest codes are {beside}; {hint}"
        raise NothingSelected(f"no diagnostic is called `{code_or_name}`; {hint}")
    page = files("rocky.diagnostics") / "explanations" / f"{info.code.value}.md"
    return page.read_text(encoding="utf-8")

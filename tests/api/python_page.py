"""The page of the Python API as a program: its blocks in order, each value beside what it says."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "python-api.md"
BLOCK = re.compile(
    r"^```(?P<kind>sh|python|python spark)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL
)
# Whoever wrote the code is nobody who approves it.
PEOPLE = {
    f"GIT_{role}_{what}": value
    for role in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "Ann"), ("EMAIL", "ann@example.com"))
}


def run_page(page: str, folder: Path, kinds: set[str], **names: Any) -> str:
    """The page with the values that its lines have: those of blocks of these kinds."""

    def run(found: re.Match[str]) -> str:
        if found["kind"] not in kinds:
            return found.group()
        if found["kind"] == "sh":
            path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
            environment = {**os.environ, **PEOPLE, "PATH": path}
            subprocess.run(found["code"], shell=True, cwd=folder, env=environment, check=True)
            return found.group()
        return found.group().replace(found["code"], run_block(found["code"], names))

    return BLOCK.sub(run, page)


def run_block(code: str, names: dict[str, Any]) -> str:
    """A block with the values that its expressions have, where it says any."""
    lines = code.splitlines()
    for node in ast.parse(code).body:
        following = lines[node.end_lineno] if node.end_lineno < len(lines) else ""
        text = "\n".join(lines[node.lineno - 1 : node.end_lineno])
        if isinstance(node, ast.Expr) and following.startswith("# "):
            lines[node.end_lineno] = f"# {eval(text, names)!r}"
        else:
            exec(text, names)
    return "\n".join([*lines, ""])

"""Small projects on disk, and their findings as plain lines to compare."""

from pathlib import Path

from rocky.diagnostics import Diagnostic
from rocky.project import Project, load_project

SMALLEST = '[pipeline.shop]\nmodels = "models/**"\n'


def load(root: Path, files: dict[str, str | bytes], env: dict[str, str] | None = None) -> Project:
    """Write the files (a `rocky.toml` unless there is one, and one model) and load them."""
    wanted: dict[str, str | bytes] = {"rocky.toml": SMALLEST, **files}
    if not any(name.endswith(".sql") for name in wanted):
        wanted["models/m.sql"] = "SELECT 1 AS one"
    for name, content in wanted.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content, newline="")
    return load_project(root, env=env or {})


def finding(project: Project, diagnostic: Diagnostic) -> str:
    """`CODE path:line:column 'text under the span' message`; no place without a span."""
    path = str(diagnostic.path)
    if diagnostic.span is None:
        return f"{diagnostic.code} {path} {diagnostic.message}"
    text = project.texts[path]
    line, column = text.position(diagnostic.span.start)
    under = text.text[diagnostic.span.start : diagnostic.span.end]
    return f"{diagnostic.code} {path}:{line}:{column} {under!r} {diagnostic.message}"


def findings(project: Project) -> list[str]:
    return [finding(project, diagnostic) for diagnostic in project.diagnostics]


def helps(project: Project) -> list[str | None]:
    return [diagnostic.help for diagnostic in project.diagnostics]

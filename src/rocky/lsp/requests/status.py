"""rocky/status: what is known of the project once every edit so far has been followed.

No editor asks it by itself: an extension does, for its status bar, and so do tests.
"""

from collections import Counter
from typing import Any

from rocky.diagnostics import Severity
from rocky.lsp.context import Context, Params


def status(context: Context, params: Params) -> dict[str, Any]:  # noqa: ARG001 - as all requests
    """The project's folder, its size and how many findings there are."""
    found = Counter(each.severity for each in context.compilation.diagnostics)
    return {
        "root": str(context.root),
        "version": context.snapshot.version,
        "models": len(context.project.models),
        "errors": found[Severity.ERROR],
        "warnings": found[Severity.WARNING],
    }

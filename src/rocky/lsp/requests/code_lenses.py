"""textDocument/codeLens: above a model, what can be done with it and what is known of it.

The commands are the editor's own: an extension has them, and gets the model's name.
"""

from typing import Any

from rocky.ide.lenses import Lens, lenses
from rocky.lsp.context import Context, Params
from rocky.lsp.positions import TextPositions


def code_lenses(context: Context, params: Params) -> list[dict[str, Any]]:
    """Run, with the last run; show; lineage; tests, where there are any."""
    file = context.file(params)
    if file is None:
        return []
    positions = TextPositions(file.text)
    return [
        {
            "range": positions.range(lens.span),
            "command": {"title": title, "command": command, "arguments": [lens.model]},
        }
        for lens in lenses(file)
        for title, command in _commands(lens, context.last_run(lens.model.lower()))
    ]


def _commands(lens: Lens, ran: str | None) -> list[tuple[str, str]]:
    found = [
        (f"run (last: {ran})" if ran is not None else "run", "rocky.run"),
        ("show", "rocky.show"),
        (f"lineage: reads {lens.reads}, read by {lens.readers}", "rocky.lineage"),
    ]
    count = lens.tests + lens.unit_tests
    if count:
        found.append((f"{count} test{'' if count == 1 else 's'}", "rocky.test"))
    return found

"""textDocument/prepareRename and rename: a change that was compiled, or the reason for none."""

from typing import Any

from rocky.errors import InvalidRequest
from rocky.ide.edits import Refused
from rocky.ide.rename import find_renamable, rename
from rocky.lsp.context import Context, Params
from rocky.lsp.positions import TextPositions
from rocky.lsp.requests.edits import workspace_edit


def rename_place(context: Context, params: Params) -> dict[str, Any] | None:
    """What would be renamed. Raises InvalidRequest with the reason why nothing can be."""
    place = context.place(params)
    if place is None:
        return None
    found = find_renamable(*place)
    if isinstance(found, Refused):
        raise InvalidRequest(found.reason)
    shown = TextPositions(place[0].text).range(found.span)
    return {"range": shown, "placeholder": found.name}


def rename_edit(context: Context, params: Params) -> dict[str, Any] | None:
    """The change of the whole project. Raises InvalidRequest with the reason for none."""
    place = context.place(params)
    if place is None:
        return None
    found = rename(*place, str(params["newName"]), context.check)
    if isinstance(found, Refused):
        raise InvalidRequest(found.reason)
    return workspace_edit(context, found)

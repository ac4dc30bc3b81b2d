"""textDocument/codeAction: fixes, and changes that are compiled before they are made.

Where the editor asks for the edit only once somebody has chosen an action, a change that has to be
compiled is compiled then, and else before it is offered.
"""

from collections.abc import Iterator
from typing import Any, Final

from rocky.diagnostics.diagnostic import Span
from rocky.errors import InvalidRequest
from rocky.ide.actions import CodeAction, code_actions
from rocky.ide.edits import Refused
from rocky.ide.verification import Renaming, verify_change
from rocky.ide.view import OpenFile
from rocky.lsp.context import Context, Params
from rocky.lsp.findings import shown_finding
from rocky.lsp.positions import TextPositions
from rocky.lsp.requests.edits import workspace_edit

_KINDS: Final = {
    "fix": "quickfix",
    "allow": "quickfix",
    "contract": "refactor",
    "extract": "refactor.extract",
    "expand": "refactor.rewrite",
}
KINDS: Final = list(dict.fromkeys(_KINDS.values()))


def actions(context: Context, params: Params) -> list[dict[str, Any]]:
    """What can be done about a selection."""
    file = context.file(params)
    if file is None:
        return []
    wanted = (params.get("context") or {}).get("only")
    return [
        shown
        for each in _offered(file, params)
        if wanted is None or any(_is_within(_KINDS[each.kind], kind) for kind in wanted)
        for shown in _shown(context, params, file, each)
    ]


def action_edit(context: Context, params: Params) -> dict[str, Any]:
    """An action with its edit, which was compiled. Raises InvalidRequest with what it breaks."""
    data = params["data"]
    file = context.file(data)
    found = _offered(file, data) if file is not None else ()
    chosen = next((each for each in found if each.title == params["title"]), None)
    if file is None or chosen is None:
        raise InvalidRequest("the text is another by now: ask again")
    edit = _verified(context, file, chosen)
    if isinstance(edit, Refused):
        raise InvalidRequest(edit.reason)
    return {**params, "edit": edit}


def _offered(file: OpenFile, params: Params) -> tuple[CodeAction, ...]:
    positions = TextPositions(file.text)
    start, end = (positions.offset(params["range"][each]) for each in ("start", "end"))
    return code_actions(file, Span(min(start, end), max(start, end)))


def _is_within(kind: str, wanted: str) -> bool:
    return kind == wanted or kind.startswith(f"{wanted}.")


def _shown(
    context: Context, params: Params, file: OpenFile, action: CodeAction
) -> Iterator[dict[str, Any]]:
    shown: dict[str, Any] = {"title": action.title, "kind": _KINDS[action.kind]}
    if action.finding is not None:
        shown["diagnostics"] = [shown_finding(action.finding, context, file.path)]
        shown["isPreferred"] = action.kind == "fix"
        yield {**shown, "edit": workspace_edit(context, action.change)}
    elif "edit" in (
        context.can("textDocument", "codeAction", "resolveSupport", "properties") or ()
    ):
        data = {"textDocument": dict(params["textDocument"]), "range": params["range"]}
        yield {**shown, "data": data}
    else:
        try:
            edit = _verified(context, file, action)
        except InvalidRequest:
            # It would make a file, which this editor cannot: there is nothing to offer.
            return
        if not isinstance(edit, Refused):
            yield {**shown, "edit": edit}


def _verified(context: Context, file: OpenFile, action: CodeAction) -> dict[str, Any] | Refused:
    if file.text != file.view.text_of(file.path):
        return Refused("the file is newer than what was compiled: try again")
    edit = workspace_edit(context, action.change)
    # What is extracted is read in the place of what it reads.
    renaming = Renaming(same_reads=action.kind != "extract")
    found = verify_change(file.view, action.change, context.check, renaming)
    return found if isinstance(found, Refused) else edit

"""The requests that are answered, in one list: a kind of request is a file and a line here."""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from rocky.lsp.context import Context, Params
from rocky.lsp.requests.call_hierarchy import lineage_items, origins, readers
from rocky.lsp.requests.code_actions import KINDS, action_edit, actions
from rocky.lsp.requests.code_lenses import code_lenses
from rocky.lsp.requests.completion import TRIGGERS, completion, completion_card
from rocky.lsp.requests.decorations import LEGEND, folding_ranges, hints, tokens
from rocky.lsp.requests.formatting import formatting
from rocky.lsp.requests.hover import hover_text, signatures
from rocky.lsp.requests.navigation import definitions, highlights, reference_places
from rocky.lsp.requests.rename import rename_edit, rename_place
from rocky.lsp.requests.status import status
from rocky.lsp.requests.symbols import document_symbols, workspace_symbols


class Request(NamedTuple):
    """A kind of request. `capability` is what the client is told of it, `answer` what is said.

    One that `waits` is answered once readers of what was edited have been looked at, too; the
    others as soon as the edited text itself has been, those `at_once` even before that where the
    text is code whose plan is not built yet.
    """

    method: str
    capability: tuple[str, Any] | None
    answer: Callable[[Context, Params], Any]
    waits: bool = False
    at_once: bool = False


_COMPLETION: Final = {"triggerCharacters": list(TRIGGERS), "resolveProvider": True}
_ACTIONS: Final = {"codeActionKinds": KINDS, "resolveProvider": True}
_OWN: Final = {"rockyStatus": True, "rockyReport": True, "rockyChanged": True}
"""What is of no standard: `rocky.lsp.reports` has the other two."""
_SIGNATURES: Final = {"triggerCharacters": ["(", ","]}

REQUESTS: Final = (
    Request("textDocument/formatting", ("documentFormattingProvider", True), formatting),
    Request("textDocument/documentSymbol", ("documentSymbolProvider", True), document_symbols),
    Request("workspace/symbol", ("workspaceSymbolProvider", True), workspace_symbols),
    Request("textDocument/hover", ("hoverProvider", True), hover_text, at_once=True),
    Request(
        "textDocument/completion", ("completionProvider", _COMPLETION), completion, at_once=True
    ),
    Request("completionItem/resolve", None, completion_card),
    Request("textDocument/signatureHelp", ("signatureHelpProvider", _SIGNATURES), signatures),
    Request("textDocument/definition", ("definitionProvider", True), definitions),
    Request("textDocument/references", ("referencesProvider", True), reference_places, waits=True),
    Request("textDocument/documentHighlight", ("documentHighlightProvider", True), highlights),
    Request("textDocument/prepareRename", None, rename_place),
    Request(
        "textDocument/rename",
        ("renameProvider", {"prepareProvider": True}),
        rename_edit,
        waits=True,
    ),
    Request(
        "textDocument/semanticTokens/full",
        ("semanticTokensProvider", {"legend": LEGEND, "full": True}),
        tokens,
    ),
    Request("textDocument/inlayHint", ("inlayHintProvider", True), hints),
    Request("textDocument/foldingRange", ("foldingRangeProvider", True), folding_ranges),
    Request("textDocument/codeAction", ("codeActionProvider", _ACTIONS), actions),
    Request("codeAction/resolve", None, action_edit, waits=True),
    Request("textDocument/codeLens", ("codeLensProvider", {}), code_lenses),
    Request("textDocument/prepareCallHierarchy", ("callHierarchyProvider", True), lineage_items),
    Request("callHierarchy/incomingCalls", None, readers, waits=True),
    Request("callHierarchy/outgoingCalls", None, origins, waits=True),
    Request("rocky/status", ("experimental", _OWN), status, waits=True),
)
BY_METHOD: Final = {each.method: each for each in REQUESTS}

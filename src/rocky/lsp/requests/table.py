"""The requests that are answered, in one list: a kind of request is a file and a line here."""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from rocky.lsp.context import Context, Params
from rocky.lsp.requests.formatting import formatting
from rocky.lsp.requests.status import status
from rocky.lsp.requests.symbols import document_symbols, workspace_symbols


class Request(NamedTuple):
    """A kind of request. `capability` is what the client is told of it, `answer` what is said.

    One that `waits` is answered once readers of what was edited have been looked at, too; the
    others as soon as the edited text itself has been.
    """

    method: str
    capability: tuple[str, Any]
    answer: Callable[[Context, Params], Any]
    waits: bool = False


REQUESTS: Final = (
    Request("textDocument/formatting", ("documentFormattingProvider", True), formatting),
    Request("textDocument/documentSymbol", ("documentSymbolProvider", True), document_symbols),
    Request("workspace/symbol", ("workspaceSymbolProvider", True), workspace_symbols),
    Request("rocky/status", ("experimental", {"rockyStatus": True}), status, waits=True),
)
BY_METHOD: Final = {each.method: each for each in REQUESTS}

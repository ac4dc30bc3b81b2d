"""Completion items, and which of them fit what is typed already."""

from collections.abc import Iterable
from typing import Literal, NamedTuple

from rocky.diagnostics.diagnostic import Span

CompletionKind = Literal[
    "column", "field", "relation", "cte", "model", "source", "seed", "function", "macro",
    "parameter", "keyword", "key", "block", "value",
]  # fmt: skip


class CompletionItem(NamedTuple):
    """Something to write in the place of `span`; the smaller `rank` and `order` go first."""

    label: str
    kind: CompletionKind
    span: Span
    text: str
    detail: str | None = None
    description: str | None = None
    rank: int = 0
    order: int = 0


def matching(items: Iterable[CompletionItem], prefix: str) -> tuple[CompletionItem, ...]:
    """The items that what is typed may become, each once: those that begin with it go first."""
    wanted = prefix.lower()
    found: dict[tuple[str, str], CompletionItem] = {}
    for each in items:
        label = each.label.lower()
        if wanted in label or _initials(label).startswith(wanted):
            found.setdefault((each.text.lower(), each.kind), each)
    return tuple(
        sorted(
            found.values(),
            key=lambda each: (
                not each.label.lower().startswith(wanted),
                each.rank,
                each.order,
                each.label,
            ),
        )
    )


def _initials(label: str) -> str:
    """The first letters of the words of a name: `cid` finds `customer_id`."""
    return "".join(word[:1] for word in label.replace(".", "_").split("_"))

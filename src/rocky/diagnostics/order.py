"""The order in which findings are read: file by file, and down each file.

The passes of a compile find things in their own order. Files keep the order in which they
first appear, so what is wrong with the project itself still comes first.
"""

from collections.abc import Iterable

from rocky.diagnostics.diagnostic import Diagnostic


def in_reading_order(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """The findings by file and place; in one place they stay as they were."""
    by_path: dict[str | None, list[Diagnostic]] = {}
    for each in diagnostics:
        by_path.setdefault(each.path, []).append(each)
    return [each for group in by_path.values() for each in sorted(group, key=_start)]


def _start(diagnostic: Diagnostic) -> int:
    """Where a finding begins; one about the file as a whole comes before those inside it."""
    return diagnostic.span.start if diagnostic.span is not None else -1

"""Plain tables: columns padded to their widest cell, no lines to get in the way of grep."""

from collections.abc import Sequence

GAP = "  "


def render_table(head: Sequence[str], rows: Sequence[Sequence[str]], right: set[int]) -> str:
    """Rows under a head. Columns whose index is in `right` stand to the right, as numbers do."""
    widths = [max(len(row[index]) for row in (head, *rows)) for index in range(len(head))]
    return "\n".join(
        GAP.join(
            cell.rjust(width) if index in right else cell.ljust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in (head, *rows)
    )

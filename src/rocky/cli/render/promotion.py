"""What a promotion or a revert moved: a line a table, what it left where it was, who approved."""

from rocky.cli.render.tables import NOTHING, render_table
from rocky.ledger.branch_records import PromotionRecord


def render_moves(promotion: PromotionRecord) -> list[str]:
    """The tables with their versions before and after, and those that were left, with why."""
    heads = ("TABLE", "FROM", "TO", "BUILT BY")
    rows = [
        (
            each.target,
            NOTHING if each.from_version is None else str(each.from_version),
            str(each.to_version),
            each.built_by or NOTHING,
        )
        for each in promotion.tables
    ]
    left = [f"{target}: {why}" for target, why in promotion.left.items()]
    return [render_table(heads, rows, {1, 2}), *left]

"""The lineage of a tag as text: its columns by table, then what it decides and where it ends."""

from rocky.cli.render.tables import render_table
from rocky.operations.graph.tag_lineage import TaggedColumn, TagLineage


def render_tag(report: TagLineage) -> str:
    """Every column with the tag, and the way to it; then what else is known of the tag."""
    tag = report.classification
    rows = [[f"{each.model}.{each.column}", _came(each)] for each in report.columns]
    lines = [render_table(["COLUMN", f"HAS `{tag}`"], rows, right=set())] if rows else []
    if not rows:
        lines.append(f"no column has the tag `{tag}`")
    if report.influences:
        decided = [f"  {each.model}: {each.source}" for each in report.influences]
        lines += ["", "decides rows of, without being in a value:", *decided]
    if report.ended:
        ended = [f"  {each.model}.{each.column}, made from {each.source}" for each in report.ended]
        lines += ["", "ended by a rule in:", *ended]
    if report.declassified:
        lines += ["", "taken off in the open:"]
        lines += [
            f"  {each.model}.{each.column}, made from {each.source}:"
            f" {each.reason} (approved by {each.approved_by})"
            for each in report.declassified
        ]
    if report.broken:
        names = ", ".join(f"`{each}`" for each in report.broken)
        lines += ["", f"not known of {names}: `rocky compile` says what is wrong there"]
    return "\n".join([*lines, ""])


def _came(column: TaggedColumn) -> str:
    inside = f" in `{column.field}`" if column.field else ""
    if column.declared:
        return f"declared here{inside}"
    way = " -> ".join(str(each) for each in column.path[:-1])
    return f"from {way}{inside}{' (lowered)' if column.lowered else ''}"

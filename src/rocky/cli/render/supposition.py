"""What would break if a column were another, in words: the worst first."""

from collections.abc import Iterable, Iterator, Sequence

from rocky.diagnostics.render import counted
from rocky.operations.digest import place_of
from rocky.operations.findings import Finding
from rocky.operations.graph.lineage_report import LineageColumn
from rocky.operations.graph.supposition import (
    BrokenModel,
    RetypedColumn,
    SupposedColumn,
    SuppositionReport,
)


def render_supposition(report: SuppositionReport) -> str:
    """A line for the column, then what breaks, what changes, and what else is reached."""
    lines = [_head(report.supposed), ""]
    if report.is_harmless:
        lines.append("Everything would compile as it does now.")
    if report.broken:
        lines += [f"{counted(len(report.broken), 'model')} would not compile:"]
        lines += _broken_lines(report.broken)
    if report.contracts:
        lines += _gap(lines)
        lines += [f"{counted(len(report.contracts), 'contract')} would not hold:"]
        lines += _broken_lines(report.contracts)
    if report.errors:
        lines += [*_gap(lines), "Also wrong:", *_finding_lines(report.errors)]
    if report.untold:
        count = counted(len(report.untold), "model")
        lines += [*_gap(lines), f"{count} could be judged only when these are mended:"]
        lines += [
            f"  {each.model}: {', '.join(column.column for column in each.columns)}"
            for each in report.untold
        ]
    if report.retyped:
        count = counted(len(report.retyped), "model")
        lines += [*_gap(lines), f"{count} would have other columns:"]
        for retyped in report.retyped:
            lines.append(f"  {retyped.model}")
            lines += [f"    {_change(column)}" for column in retyped.columns]
    if report.warnings:
        count = counted(len(report.warnings), "new warning")
        lines += [*_gap(lines), f"{count}:", *_finding_lines(report.warnings)]
    if report.reached:
        lines += [*_gap(lines), "Also reached, without a difference to the compiler:"]
        lines += [f"  {name}" for name in report.reached]
    if report.errors_now:
        count = counted(report.errors_now, "error")
        lines += [*_gap(lines), f"The project has {count} now, which may hide others."]
    return "\n".join([*lines, ""])


def _gap(lines: Sequence[str]) -> list[str]:
    return [""] if lines[-1] else []


def _head(supposed: SupposedColumn) -> str:
    name = f"{supposed.model}.{supposed.column}"
    after = "dropped" if supposed.after is None else _facts(supposed.after)
    return f"{name}  {_facts(supposed.before)} -> {after}"


def _facts(column: LineageColumn) -> str:
    return f"{column.data_type}, {'nullable' if column.nullable else 'not null'}"


def _broken_lines(broken: Iterable[BrokenModel]) -> Iterator[str]:
    for each in broken:
        mark = "  (has errors now)" if each.broken_now else ""
        yield f"  {each.model}{mark}"
        yield from (f"  {line}" for line in _finding_lines(each.errors))


def _finding_lines(findings: Iterable[Finding]) -> Iterator[str]:
    for each in findings:
        message = " ".join(each.message.split())
        said = f"{each.severity.value}[{each.code.value}] {message}"
        place = place_of(each)
        yield f"  {place}: {said}" if place else f"  {said}"


def _change(column: RetypedColumn) -> str:
    before = "absent" if column.before is None else _facts(column.before)
    after = "absent" if column.after is None else _facts(column.after)
    return f"{column.column}: {before} -> {after}"

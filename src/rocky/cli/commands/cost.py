"""`rocky cost`: what a run used and cost, a line for each model or tag."""

from collections.abc import Sequence
from typing import Final

import click

from rocky.cli.console import ExitCode, write_line, write_note, write_report
from rocky.cli.options import Settings, StateCommand
from rocky.cli.render.history import describe_run
from rocky.cli.render.tables import (
    Fitted,
    Room,
    describe_dropped,
    format_bytes,
    format_count,
    format_duration,
    format_seconds,
    format_usd,
    render_fitted,
    terminal_width,
)
from rocky.diagnostics.render import counted
from rocky.ledger import LATEST
from rocky.ledger.run_records import BudgetBreach, CostRate
from rocky.operations.records.cost import UNATTRIBUTED, CostReport, CostRequest, Saving, Usage, cost
from rocky.operations.records.outcome_words import outcome_of

REPORTS: Final = {"cost": CostReport}
_NO_TAG: Final = "(no tag)"
_USAGE_HEAD: Final = (
    "TIME", "CORE S", "READ", "WRITTEN", "SHUFFLE", "SPILL", "PEAK", "ROWS", "USD",
)  # fmt: skip
_EXPENDABLE: Final = ("PEAK", "SPILL", "SHUFFLE", "READ", "WRITTEN", "ROWS")


@click.command("cost", cls=StateCommand)
@click.argument("run", default=LATEST)
@click.option(
    "--by",
    "dimension",
    default="model",
    show_default=True,
    metavar="model|tag|tag:NAME",
    help="A line for each model, for each tag, or for each value of one tag.",
)
@click.pass_obj
def command(settings: Settings, run: str, dimension: str) -> ExitCode:
    """Show what a run used and cost.

    RUN is a run's id or the beginning of one; without it, the latest.
    """
    report = cost(settings.workspace, CostRequest(run, dimension))
    if settings.json:
        write_report("cost", report)
        return ExitCode.OK
    shown = _render_cost(report, terminal_width())
    write_line(shown.text)
    if shown.dropped and not settings.quiet:
        write_note(describe_dropped(shown.dropped))
    return ExitCode.OK


def _render_cost(report: CostReport, width: int | None) -> Fitted:
    """The run, a line for each model or group, the total, what reuse saved, and the rates."""
    lead, rows, savings = _model_rows(report) if report.grouping is None else _tag_rows(report)
    # The run's own time: models that ran side by side share theirs.
    count = "" if report.grouping is None else format_count(len(report.per_model))
    total = [format_duration(report.duration_ms), *_cells(report.usage)[1:]]
    rows.append(["total", count, *total])
    head = [*lead, *_USAGE_HEAD]
    if report.saved is not None:
        title, cells = _saved_column([*savings, report.saved], report.saved)
        head.append(title)
        rows = [[*row, cell] for row, cell in zip(rows, cells, strict=True)]
    right = set(range(1 if report.grouping is not None else 2, len(head)))
    table = render_fitted(head, rows, right, Room(width, _EXPENDABLE))
    lines = [describe_run(report.run), "", table.text, "", *_remarks(report)]
    lines += [_describe_rates(report), *(_describe_breach(each) for each in report.budget_breaches)]
    return Fitted("\n".join(lines), table.dropped)


_Rows = tuple[tuple[str, str], list[list[str]], list[Saving | None]]


def _model_rows(report: CostReport) -> _Rows:
    rows = [
        [each.model_name, outcome_of(each.execution), *_cells(each.usage)]
        for each in report.per_model
    ]
    return ("MODEL", "OUTCOME"), rows, [each.saved for each in report.per_model]


def _tag_rows(report: CostReport) -> _Rows:
    groups = report.grouping.groups if report.grouping is not None else ()
    rows = [
        [
            _NO_TAG if each.key == UNATTRIBUTED else each.key,
            format_count(each.model_count),
            *_cells(each.usage),
        ]
        for each in groups
    ]
    return ("TAG", "MODELS"), rows, [each.saved for each in groups]


def _saved_column(savings: Sequence[Saving | None], total: Saving) -> tuple[str, list[str]]:
    """The last column, if anything was reused: amounts where there are prices, else core time."""
    if total.cost_usd is None:
        return "SAVED S", [format_seconds(each.core_ms) if each else "" for each in savings]
    return "SAVED USD", [format_usd(each.cost_usd) if each else "" for each in savings]


def _remarks(report: CostReport) -> list[str]:
    remarks = []
    twice = report.grouping.models_in_several_groups if report.grouping is not None else 0
    if twice:
        remarks.append(
            f"{counted(twice, 'model')} with several tags"
            f" {'counts' if twice == 1 else 'count'} under each of them,"
            " and once in the total"
        )
    if report.saved is not None:
        remarks.append(_describe_saving(report.saved))
    return remarks


def _describe_saving(saving: Saving) -> str:
    said = f"{counted(saving.model_count, 'model')} reused"
    amounts = []
    if saving.core_ms is not None:
        amounts.append(f"{format_seconds(saving.core_ms)} core seconds")
    if saving.cost_usd is not None:
        amounts.append(f"{format_usd(saving.cost_usd)} USD")
    if amounts:
        said += f": saved {' and '.join(amounts)}, which is what building took then"
    if saving.unknown_count:
        said += f"; {saving.unknown_count:,} built by a run that is not recorded here"
    return said


def _describe_rates(report: CostReport) -> str:
    """The prices behind the amounts, or how to set one."""
    if report.rates:
        return "\n".join(f"at {_describe_rate(each)}" for each in report.rates)
    if not any(outcome_of(each.execution) in ("built", "failed") for each in report.per_model):
        return "nothing was built, so nothing was priced"
    return "no price: set `compute_cost_per_core_hour` in `[cost]` of `rocky.toml`"


def _describe_rate(rate: CostRate) -> str:
    parts = []
    if rate.per_core_hour is not None:
        parts.append(f"{rate.per_core_hour:g} USD a core-hour")
    if rate.per_tb_read is not None:
        parts.append(f"{rate.per_tb_read:g} USD a TB read")
    return " and ".join(parts)


def _describe_breach(breach: BudgetBreach) -> str:
    whose = f"`{breach.model_name}`" if breach.model_name is not None else "the run"
    return (
        f"over budget: {whose}: {breach.limit_type} is {breach.limit:g}, it was {breach.actual:g}"
    )


def _cells(usage: Usage) -> tuple[str, ...]:
    return (
        format_duration(usage.total_duration_ms),
        format_seconds(usage.total_core_ms),
        format_bytes(usage.total_bytes_scanned),
        format_bytes(usage.total_bytes_written),
        format_bytes(usage.total_shuffle_bytes),
        format_bytes(usage.total_spill_bytes),
        format_bytes(usage.peak_memory_bytes),
        format_count(usage.total_rows_affected),
        format_usd(usage.total_cost_usd),
    )

"""The table of endpoints: every question that can be asked over the protocol, once.

Each is an operation of the command line, with its report as it is; nothing is worked out here. None
starts Spark or writes anything. What reads tables is never kept: others may write them, and nobody
tells of that.
"""

from typing import Final, get_args

from rocky.operations.branch import show as branch_views
from rocky.operations.branch.approve import ApprovalsReport, ApprovalsRequest, approvals
from rocky.operations.changes.diff import DiffReport, DiffRequest, ReachReport, diff
from rocky.operations.check.query import QueryReport, QueryRequest, check_project_query
from rocky.operations.governance.compliance import (
    ComplianceReport,
    ComplianceRequest,
    compliance,
)
from rocky.operations.governance.declared_readers import DeclaredReadersReport, declared_readers
from rocky.operations.page.overlays import OverlayName, OverlayReport, OverlayRequest, overlay
from rocky.operations.plan import PlanReport, preview_plan
from rocky.operations.plan.why import WhyReport, WhyRequest, why
from rocky.operations.proof.replay import (
    RecordReport,
    RecordVerificationReport,
    ReplayRequest,
    replay,
)
from rocky.operations.proof.verify import VerifyReport, VerifyRequest, verify
from rocky.operations.records.cost import CostReport, CostRequest, cost
from rocky.operations.records.history import (
    ExecutionsReport,
    HistoryReport,
    HistoryRequest,
    RunAccount,
    history,
)
from rocky.operations.records.logs import LogsReport, LogsRequest, logs
from rocky.operations.records.trace import TraceReport, TraceRequest, trace
from rocky.operations.rows.files import FilesReport, FilesRequest, list_files
from rocky.operations.rows.show import ShowReport, ShowRequest, show
from rocky.operations.state.kept_state import StateReport
from rocky.operations.state.row_counts import CountsReport, CountsRequest, row_counts
from rocky.plan.request import RunRequest
from rocky.protocol.disclosure import shown_history, shown_record, shown_state
from rocky.protocol.endpoint import Arguments, Endpoint, Parameter
from rocky.protocol.first_endpoints import FIRST
from rocky.protocol.graph_endpoints import GRAPH, SELECT
from rocky.protocol.memory import Memory

_RUN: Final = Parameter("run", "a run's id, the beginning of one, or `latest`")
_BRANCH: Final = Parameter("branch", "the name of a branch", required=True)
_BASE: Final = Parameter("base", "what to compare with, as `rocky ci-diff BASE`")
_LIMIT: Final = Parameter("limit", "at most so many", int)
_MODEL: Final = Parameter("model", "the name of a model")


# ------------------------------------------------------------------ the page


def _overlay(memory: Memory, given: Arguments) -> OverlayReport:
    request = OverlayRequest(given["name"], given["base"])
    return overlay(memory.workspace, memory.page(), request)


# ------------------------------------------------------------------ the past


def _history(memory: Memory, given: Arguments) -> object:
    limit = {} if given["limit"] is None else {"limit": given["limit"]}
    found = history(memory.workspace, HistoryRequest(model=given["model"], **limit))
    return shown_history(memory, found)


def _run(memory: Memory, given: Arguments) -> object:
    return history(memory.workspace, HistoryRequest(run=given["run"] or "latest"))


def _trace(memory: Memory, given: Arguments) -> TraceReport:
    return trace(memory.workspace, TraceRequest(given["run"] or "latest", given["limit"]))


def _cost(memory: Memory, given: Arguments) -> CostReport:
    return cost(memory.workspace, CostRequest(given["run"] or "latest", given["by"] or "model"))


def _logs(memory: Memory, given: Arguments) -> LogsReport:
    return logs(memory.workspace, LogsRequest(given["run"] or "latest"))


def _state(memory: Memory, _: Arguments) -> StateReport:
    return shown_state(memory)


def _record(memory: Memory, given: Arguments) -> object:
    found = replay(memory.workspace, ReplayRequest(given["run"] or "latest", given["models"]))
    return shown_record(memory, found)


def _verify(memory: Memory, given: Arguments) -> VerifyReport:
    return verify(memory.workspace, VerifyRequest(given["what"], given["sealed"]))


# ------------------------------------------------------------------ changes and what comes next


def _diff(memory: Memory, given: Arguments) -> object:
    return diff(memory.workspace, DiffRequest(given["base"], reach=given["reach"]))


def _plan(memory: Memory, given: Arguments) -> PlanReport:
    return preview_plan(memory.workspace, RunRequest(given["select"]))


def _why(memory: Memory, given: Arguments) -> WhyReport:
    return why(memory.workspace, WhyRequest(given["model"]))


def _check(memory: Memory, given: Arguments) -> QueryReport:
    return check_project_query(memory.workspace, QueryRequest(given["sql"]))


def _rows(memory: Memory, given: Arguments) -> ShowReport:
    limit = {} if given["limit"] is None else {"limit": min(given["limit"], _MOST_ROWS)}
    request = ShowRequest(given["table"], version=given["version"], files_only=True, **limit)
    return show(memory.workspace, request)


_MOST_ROWS: Final = 200


def _files(memory: Memory, given: Arguments) -> FilesReport:
    return list_files(memory.workspace, FilesRequest(given["table"], given["version"]))


def _counts(memory: Memory, given: Arguments) -> CountsReport:
    return row_counts(memory.workspace, CountsRequest(given["tables"]))


# ------------------------------------------------------------------ branches and governance


def _branches(memory: Memory, given: Arguments) -> object:
    return branch_views.list_branches(
        memory.workspace, branch_views.ListRequest(promotions=given["promotions"])
    )


def _branch(memory: Memory, given: Arguments) -> branch_views.ViewReport:
    return branch_views.show(memory.workspace, branch_views.ShowRequest(given["branch"]))


def _approvals(memory: Memory, given: Arguments) -> ApprovalsReport:
    return approvals(memory.workspace, ApprovalsRequest(given["branch"]))


def _compliance(memory: Memory, given: Arguments) -> ComplianceReport:
    return compliance(memory.workspace, ComplianceRequest(given["exceptions_only"]))


def _readers(memory: Memory, _: Arguments) -> DeclaredReadersReport:
    return declared_readers(memory.workspace)


ENDPOINTS: Final = (
    *FIRST,
    Endpoint(
        "overlay",
        "What one kind of trust says of each table.",
        (OverlayReport,),
        _overlay,
        (
            Parameter("name", "which", required=True, choices=get_args(OverlayName)),
            _BASE,
        ),
    ),
    *GRAPH,
    Endpoint(
        "history",
        "What ran, newest first; of a model its executions.",
        (HistoryReport, ExecutionsReport),
        _history,
        (_MODEL, _LIMIT),
        may_quote=True,
    ),
    Endpoint("run", "One run, and why it failed.", (RunAccount,), _run, (_RUN,), may_quote=True),
    Endpoint(
        "trace",
        "When each model of a run ran, and what it waited for.",
        (TraceReport,),
        _trace,
        (_RUN, _LIMIT),
        may_quote=True,
    ),
    Endpoint(
        "cost",
        "What a run used and cost.",
        (CostReport,),
        _cost,
        (_RUN, Parameter("by", "`model`, `tag` or `tag:NAME`")),
    ),
    Endpoint(
        "logs", "The log of a run that failed.", (LogsReport,), _logs, (_RUN,), shows_values=True
    ),
    Endpoint(
        "record",
        "All that is recorded of a run, checked against the tables.",
        (RecordReport, RecordVerificationReport),
        _record,
        (_RUN, Parameter("models", "only these", many=True)),
        is_kept=False,
        shows_values=True,
    ),
    Endpoint(
        "verify",
        "Whether records and tables are unchanged and agree.",
        (VerifyReport,),
        _verify,
        (
            Parameter("what", "a run, a model or a table; all without one"),
            Parameter("sealed", "where seals are"),
        ),
        is_kept=False,
        shows_values=True,
    ),
    Endpoint(
        "diff",
        "What changed since a base, and what breaks.",
        (DiffReport, ReachReport),
        _diff,
        (_BASE, Parameter("reach", "with all that each change reaches", bool)),
    ),
    Endpoint(
        "plan",
        "What a run would build or reuse, and why; nothing is kept.",
        (PlanReport,),
        _plan,
        (SELECT,),
        is_kept=False,
        shows_values=True,
    ),
    Endpoint(
        "why",
        "What a run would do with a model, and for which reason.",
        (WhyReport,),
        _why,
        (_MODEL._replace(required=True),),
        is_kept=False,
    ),
    Endpoint(
        "check_sql",
        "The columns of a query, what it reads and what is wrong with it; it is not run.",
        (QueryReport,),
        _check,
        (Parameter("sql", "a query over names of the project", required=True),),
        is_kept=False,
    ),
    Endpoint(
        "rows",
        "Some rows of a table, read from its files; classified values are hidden.",
        (ShowReport,),
        _rows,
        (
            Parameter("table", "a model, a seed or a table", required=True),
            _LIMIT,
            Parameter("version", "as it was at a version", int),
        ),
        is_kept=False,
        shows_values=True,
    ),
    Endpoint(
        "files",
        "The files of a table, and the hash of each.",
        (FilesReport,),
        _files,
        (
            Parameter("table", "a model, a seed or a table", required=True),
            Parameter("version", "as it was at a version", int),
        ),
        is_kept=False,
        shows_values=True,
    ),
    Endpoint(
        "counts",
        "How many rows tables had after each run that checked them, oldest first.",
        (CountsReport,),
        _counts,
        (Parameter("tables", "full names", many=True),),
    ),
    Endpoint(
        "branches",
        "The branches there are, or the promotions there were.",
        (branch_views.BranchesReport, branch_views.PromotionsReport),
        _branches,
        (Parameter("promotions", "promotions in place of branches", bool),),
        may_quote=True,
    ),
    Endpoint(
        "branch",
        "A branch table by table.",
        (branch_views.ViewReport,),
        _branch,
        (_BRANCH,),
        is_kept=False,
    ),
    Endpoint(
        "approvals",
        "Which approvals of a branch count, and why the others do not.",
        (ApprovalsReport,),
        _approvals,
        (_BRANCH,),
        is_kept=False,
    ),
    Endpoint(
        "compliance",
        "What becomes of each classified column.",
        (ComplianceReport,),
        _compliance,
        (Parameter("exceptions_only", "only columns with an exception", bool),),
    ),
    Endpoint(
        "readers",
        "Who may read each table, as it is declared; no catalogue is asked.",
        (DeclaredReadersReport,),
        _readers,
    ),
    Endpoint("state", "What is kept between runs.", (StateReport,), _state, shows_values=True),
)
"""In the order of the documentation."""

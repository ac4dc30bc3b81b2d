"""Executions, checked against the logs of their tables: versions, rows, files, what was reused."""

from collections.abc import Mapping

from rocky.evidence.findings import FindingCode, Findings
from rocky.evidence.places import split_place
from rocky.evidence.provenance import Output
from rocky.evidence.recorded import Maker, Recorded
from rocky.evidence.tables import History
from rocky.ledger.records import ArtifactRecord, ModelExecution

_WHOLE = frozenset({"full_refresh", "materialized_view", "content_addressed", "seed"})
"""Strategies that write all rows of their table: the rows written are the table's."""


def check_execution(
    maker: Maker, execution: ModelExecution, history: History, findings: Findings
) -> None:
    """What an execution says of its table must be what the table's log says."""
    version, states = execution.commit_version, history.states
    if not states or version is None:
        return
    where = f"model_executions {maker[0]}|{maker[1]}"
    state = states.get(version)
    if state is None:
        why = f"its table never had version {version}"
        findings.add(FindingCode.COMMIT_MISSING, where, why)
        return
    rows = sum(file.rows for file in state.values())
    if execution.strategy in _WHOLE and execution.rows_affected is not None:
        findings.expect(
            rows == execution.rows_affected,
            FindingCode.ROWS_MISMATCH,
            where,
            f"it wrote {execution.rows_affected} rows, the table's log says {rows}",
        )


def check_reuse(
    maker: Maker,
    execution: ModelExecution,
    recorded: Recorded,
    outputs: Mapping[tuple[str, str], Output],
    findings: Findings,
) -> None:
    """The files of a reused result must be those that the run it names made.

    `outputs` are by run and target: the model may have been renamed since.
    """
    if execution.reused_from is None:
        return
    where = f"model_executions {maker[0]}|{maker[1]}"
    made = outputs.get((execution.reused_from, (execution.target or "").lower()))
    findings.expect(
        made is not None and set(recorded.files.get(maker, ())) <= set(made.paths),
        FindingCode.RECORD_INCONSISTENT,
        where,
        f"its files are not those that `{execution.reused_from}` made",
    )


def check_artifact(artifact: ArtifactRecord, history: History, findings: Findings) -> None:
    """A recorded file must have been one of its table's at the version its record names."""
    _, path = split_place(artifact.file_path)
    state = history.states.get(artifact.commit_version)
    if state is None:
        return
    file = state.get(path)
    findings.expect(
        file is not None and file.size == artifact.size_bytes,
        FindingCode.RECORD_INCONSISTENT,
        f"output_artifacts {artifact.run_id}|{artifact.model_name}|{artifact.file_path}",
        f"the table had no such file at version {artifact.commit_version}",
    )

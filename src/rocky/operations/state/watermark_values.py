"""Values of watermarks: hidden where the column that they are values of is classified."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from rocky.analysis.disclosure import hidden_text
from rocky.errors import ProjectNotFound
from rocky.ledger.run_records import ModelExecution, WatermarkState
from rocky.operations.rows.disclosure import disclosure_for
from rocky.operations.workspace import Workspace, compile_workspace
from rocky.project import Project
from rocky.project.configuration.pipelines import ReplicationPipeline
from rocky.project.configuration.strategies import Incremental, Microbatch

_UNKNOWN: Final = "(hidden: there is no project that says what it is)"


def hide_marks(
    workspace: Workspace, marks: tuple[WatermarkState, ...]
) -> tuple[WatermarkState, ...]:
    """Watermarks as the person who is at work here may see them.

    Of a table that the project does not know any more it is not known which column it was. Beside a
    state file alone there is nobody to ask, and none is shown.
    """
    try:
        compilation = compile_workspace(workspace)
    except ProjectNotFound:
        return tuple(replace(each, last_value=_UNKNOWN) for each in marks)
    looking = disclosure_for(workspace, compilation)
    if not looking:
        return marks
    models = _columns_of_models(compilation.project)
    copied = tuple(dict.fromkeys(_columns_of_copies(compilation.project)))
    found = []
    for each in marks:
        names = models.get(each.table.lower(), copied)
        facts = [fact for tags in looking.in_stored(each.table, names) for fact in tags]
        secrets = tuple(facts) if names else looking.everything
        found.append(replace(each, last_value=hidden_text(secrets)) if secrets else each)
    return tuple(found)


def hide_executions(
    workspace: Workspace, executions: Sequence[ModelExecution]
) -> tuple[ModelExecution, ...]:
    """Executions as that person may see them: how far a table got with one is such a value."""
    marks = {
        at: WatermarkState(str(each.target), each.watermark, each.finished_at)
        for at, each in enumerate(executions)
        if each.watermark is not None
    }
    if not marks:
        return tuple(executions)
    shown = dict(zip(marks, hide_marks(workspace, tuple(marks.values())), strict=True))
    return tuple(
        replace(each, watermark=shown[at].last_value) if at in shown else each
        for at, each in enumerate(executions)
    )


def _columns_of_models(project: Project) -> Mapping[str, tuple[str, ...]]:
    return {
        model.target.full_name.lower(): (model.strategy.timestamp_column,)
        for model in project.models.values()
        if isinstance(model.strategy, Incremental | Microbatch)
    }


def _columns_of_copies(project: Project) -> Iterator[str]:
    for pipeline in project.config.pipeline.values():
        if isinstance(pipeline, ReplicationPipeline):
            yield pipeline.timestamp_column
            named = (each.timestamp_column for each in pipeline.table_overrides)
            yield from (each for each in named if each is not None)

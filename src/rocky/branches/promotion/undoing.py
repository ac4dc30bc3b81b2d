"""Undoing: tables that were moved are moved back, because another one could not be.

Somebody who asks no ledger has changed a table after it was checked. What was moved gets its former
content again, in a commit of its own; a table that was new has no former content and stays.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rocky.branches.promotion.moving import Lost
from rocky.branches.promotion.working import Work
from rocky.branches.view import same_content
from rocky.ledger.branch_records import PromotionRecord
from rocky.ledger.model_records import ModelRecords
from rocky.ledger.promoting import record_promoted
from rocky.ledger.records import ArtifactRecord, CommitRecord, ModelStatus
from rocky.project.models import Target
from rocky.run.commits import commit_records
from rocky.run.vouching import vouch_for
from rocky.store.change import Committed
from rocky.store.journals import Journal, JournalledTable
from rocky.store.prepared import Moment, Moved, commit_exactly, prepare_commit
from rocky.store.warehouse import Table

UNDONE = "undone"
"""The kind of a promotion that moved nothing in the end."""


def undo_moves(
    work: Work,
    journal: Journal,
    promotion: PromotionRecord,
    made: Mapping[str, Committed],
    lost: Sequence[Lost],
    known: Mapping[str, ModelRecords],
) -> str:
    """Move tables back and record both commits of each; the sentence that says so."""
    around = work.opened.surroundings
    why = "; ".join(f"`{each.target}` could not be moved: {each.why}" for each in lost)
    left = {each.target: each.why for each in lost}
    records = []
    for journalled in journal.tables:
        committed = made.get(journalled.target)
        if committed is None:
            continue
        table = around.warehouse.table(Target(*journalled.prefix.split("/")))
        back = _move_back(work, table, journalled, committed, known[journalled.target])
        if isinstance(back, str):
            left[journalled.target] = back
        records.append(_undone(known[journalled.target], table, committed, back, why, work))
    said = replace(promotion, kind=UNDONE, tables=(), left=left, reason=why)
    record_promoted(around.ledger, work.run_id, records, said)
    stayed = [name for name in left if name not in {each.target for each in lost}]
    rest = f"; left as promoted: {', '.join(stayed)}" if stayed else ""
    verb = "reverted" if promotion.kind == "revert" else "promoted"
    return f"nothing was {verb}: {why}; the other tables are as they were{rest}"


def _move_back(
    work: Work,
    table: Table,
    journalled: JournalledTable,
    committed: Committed,
    records: ModelRecords,
) -> Committed | str | None:
    """The commit that gave a table its former content; or why there is none.

    None where it has it already: whoever undid it before died over it, and the next run of the
    table records that commit.
    """
    if journalled.from_version is None:
        return "it is new: there is nothing to move it back to"
    content = table.snapshot(journalled.from_version)
    latest = table.snapshot()
    assert content is not None
    if same_content(latest, content):
        return None
    if latest is None or latest.version != committed.snapshot.version:
        return "somebody else has changed it since it was promoted"
    name = records.execution.model_name
    info = {"runId": work.run_id, "model": name, **vouch_for(work.opened.surroundings)}
    moment = Moment(int(work.now.timestamp() * 1000), f"{work.run_id}/undo")
    done = commit_exactly(table, prepare_commit(table, latest, content, info, moment))
    if isinstance(done, Moved):
        return "somebody else has changed it since it was promoted"
    return done


def _undone(
    records: ModelRecords,
    table: Table,
    committed: Committed,
    back: Committed | str | None,
    why: str,
    work: Work,
) -> ModelRecords:
    """The records of a table that was moved and, unless there is nothing to go to, moved back."""
    execution = records.execution
    commits: tuple[CommitRecord, ...] = execution.commits
    artifacts = list(records.artifacts)
    version = committed.snapshot.version
    if isinstance(back, Committed):
        commits = (*commits, *commit_records([back]))
        version = back.snapshot.version
        artifacts += [
            ArtifactRecord(
                file.address,
                work.run_id,
                execution.model_name,
                str(table.place_of(file)),
                version,
                file.size,
                work.now,
            )
            for file in back.added
        ]
    return ModelRecords(
        replace(
            execution,
            status=ModelStatus.FAILED,
            error=f"undone: {why}",
            failure_kind="promotion_undone",
            commits=commits,
            commit_version=version,
            sql_hash="",
            recipe_hash=None,
            skip_hash=None,
            input_hash=None,
            input_proof_class=None,
            env_hash=None,
        ),
        artifacts,
    )

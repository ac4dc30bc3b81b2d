"""Erasing a subject: its rows leave every version of every table, and a certificate says so.

Without `apply` it is only said where such rows are. The values that name the subject go into no
record, file or message; whoever has to prove later whom a certificate is about keeps the receipt.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from rocky.analysis.compilation import Compilation
from rocky.errors import InvalidRequest, RunRefused
from rocky.operations.branch.lifecycle import DeleteRequest, delete
from rocky.operations.governance.erase_report import (
    BranchErasure,
    EraseReport,
    Remainder,
    TableErasure,
    abandoned_tables,
    certified_report,
    table_held,
)
from rocky.operations.proof.seal import seal_deed
from rocky.operations.state.state_change import load_sound_project
from rocky.operations.workspace import (
    Workspace,
    broken_models,
    caller_of,
    compile_workspace,
    refresh_state,
    state_path,
)
from rocky.plan.adapters import main_adapter
from rocky.plan.arguments import Request
from rocky.plan.kept_plan import PLANS_FOLDER
from rocky.project import Project
from rocky.project.configuration.pipelines import LoadPipeline
from rocky.project.configuration.strategies import WHOLE_STRATEGIES
from rocky.project.pipeline_tables import PipelineTable
from rocky.project.toml.variables import written
from rocky.run.prepare.pins import open_project_warehouse

# Who only asks what would be done does not wait for pyspark.
if TYPE_CHECKING:
    from rocky.ledger.erasure_records import ErasureRecord
    from rocky.maintenance.erasure.carriers import Carriers
    from rocky.maintenance.erasure.contents import TableContents
    from rocky.maintenance.erasure.subject import Subject
    from rocky.maintenance.tables import RecordedTable
    from rocky.run.prepare.session import RunSession

_HASHED: Final = "hash"
"""The mask whose results can be looked for, by whoever has its key."""


@dataclass(frozen=True, slots=True)
class EraseRequest(Request):
    """`where` names a key column and its value; `sources` say whose column is meant.

    With `apply` it is done, and needs a `reason`. With `resume` erasures go on: what was
    interrupted is finished, and tables that were left and built anew since lose their past.
    `adapter` says where the tables are. With `with_branches`, branches that hold such rows are
    deleted first; else they are in the way.
    """

    where: str | None = field(default=None, repr=False)
    sources: tuple[str, ...] = ()
    apply: bool = False
    reason: str | None = None
    resume: bool = False
    adapter: str | None = None
    with_branches: bool = False


def erase(workspace: Workspace, request: EraseRequest) -> EraseReport:
    """Find the rows of a subject and, to `apply`, take them out of every version of all tables.

    Raises InvalidRequest for a condition that names no key, RunRefused on a branch, for a project
    with errors or a remote state that cannot be read, and where something stands in the way,
    NothingSelected for unknown names, LedgerLocked while a run is under way on any machine,
    ErasureUnfinished when one has to be finished first, StateSyncFailed, and SealRefused when it
    was done and is not sealed.
    """
    if workspace.branch_name is not None:
        raise RunRefused(
            f"nothing is erased from branch `{workspace.branch_name}` alone: its files are"
            " production's too; erase from production, and delete the branch"
        )
    project = load_sound_project(workspace, "erased")
    _refuse_odd(request)
    if request.resume:
        return _resume(workspace, project, request)
    from rocky.maintenance.erasure.subject import parse_subject  # noqa: PLC0415

    subject = parse_subject(request.where or "")
    compilation = compile_workspace(workspace, discovered=True)
    broken = broken_models(compilation)
    if broken:
        listed = ", ".join(f"`{each}`" for each in sorted(broken))
        raise RunRefused(
            f"nothing was erased: {listed} cannot be compiled, so nobody knows which columns they"
            " carry; `rocky compile` says what is wrong"
        )
    return _Erasure(workspace, compilation, subject, request).report()


def _refuse_odd(request: EraseRequest) -> None:
    if request.with_branches and not request.apply:
        raise InvalidRequest("`--with-branches` deletes branches: it goes with `--apply`")
    if request.resume:
        if request.where is not None or request.sources or request.apply or request.reason:
            raise InvalidRequest("`--resume` finishes what was begun, and takes nothing beside it")
        return
    if request.where is None:
        raise InvalidRequest('say whose rows: `--where "customer_id = 42"`')
    if request.apply and not (request.reason or "").strip():
        raise InvalidRequest("an erasure is certified with why it was made: say it with `--reason`")
    if request.reason and not request.apply:
        raise InvalidRequest("`--reason` is of an erasure that is made: it goes with `--apply`")


def _resume(workspace: Workspace, project: Project, request: EraseRequest) -> EraseReport:
    """Finish what was interrupted; then the past of tables goes that were built anew since."""
    from rocky.maintenance.erasure.completion import resume_erasures  # noqa: PLC0415
    from rocky.run.prepare.session import open_run  # noqa: PLC0415

    _, adapter = main_adapter(project, request.adapter)
    state = state_path(workspace)
    with open_run(project, adapter, caller_of(workspace, project, state)) as opened:
        resumed = resume_erasures(opened, datetime.now(UTC))
        settled = _settle(opened)
    done = [*(each.certificate for each in resumed), *settled]
    for each in done:
        seal_deed(workspace, project, "run", each.run_id)
    if not done:
        return EraseReport(applied=False, column="", tables=())
    receipt = next((each.receipt for each in reversed(resumed) if each.receipt), None)
    reports = [certified_report(each, receipt, {}) for each in done]
    tables = tuple(table for each in reports for table in each.tables)
    return replace(reports[-1], tables=tables)


def _settle(opened: "RunSession") -> "list[ErasureRecord]":
    from rocky.ledger.erasure_records import load_erasures  # noqa: PLC0415
    from rocky.maintenance.erasure.order import ErasureOrder  # noqa: PLC0415
    from rocky.maintenance.erasure.rebuilt import find_rebuilt, table_records  # noqa: PLC0415
    from rocky.maintenance.erasure.work import erase_rows  # noqa: PLC0415
    from rocky.maintenance.tables import find_tables, load_table_records  # noqa: PLC0415

    resources = opened.resources
    state, by = resources.ledger.path, resources.circumstances.triggering_identity
    found = table_records(find_tables(load_table_records(state), resources.warehouse, ()))
    settled = []
    for each in find_rebuilt(load_erasures(state), found):
        earlier = each.certificate
        order = ErasureOrder(None, "", earlier.reason, by or "unknown", {}, {}, earlier)
        wanted: dict[str, tuple[str, ...]] = {target.lower(): () for target in each.targets}
        certificate = erase_rows(opened, wanted, order, datetime.now(UTC))
        if certificate is not None:
            settled.append(certificate)
    return settled


class _Erasure:
    """One question about a subject, and what is done about it."""

    def __init__(
        self,
        workspace: Workspace,
        compilation: Compilation,
        subject: "Subject",
        request: EraseRequest,
    ) -> None:
        self._workspace, self._compilation = workspace, compilation
        self._subject, self._request = subject, request
        self._project = compilation.project
        _, self._adapter = main_adapter(self._project, request.adapter)
        self._state = state_path(workspace)
        refresh_state(workspace, self._state)
        from rocky.maintenance.erasure.mask_history import masks_now  # noqa: PLC0415

        self._masks = masks_now(compilation)
        self._hashed: dict[str, Subject] = {}

    def report(self) -> EraseReport:
        from rocky.maintenance.erasure.carriers import find_carriers, target_of  # noqa: PLC0415
        from rocky.maintenance.erasure.holders import find_branch_holdings  # noqa: PLC0415
        from rocky.maintenance.erasure.mask_history import MaskHistory  # noqa: PLC0415
        from rocky.maintenance.tables import find_tables, load_table_records  # noqa: PLC0415
        from rocky.run.prepare.claims import refuse_unfinished_erasure  # noqa: PLC0415

        carriers = find_carriers(self._compilation, self._subject.column, self._request.sources)
        environment = self._workspace.environment
        warehouse = open_project_warehouse(self._adapter, self._project.root, environment)
        refuse_unfinished_erasure(warehouse)
        records = load_table_records(self._state)
        targets = {
            target.lower(): name
            for name in carriers.columns
            if (target := target_of(self._compilation, name)) is not None
        }
        columns = {target: carriers.columns[name] for target, name in targets.items()}
        built = [target for target in columns if target in records]
        found = find_tables({each: records[each] for each in built}, warehouse, ())
        mixed = {target: carriers.mixed.get(name, ()) for target, name in targets.items()}
        masks = {target: carriers.masked.get(name) for target, name in targets.items()}
        self._hashed = self._find_hashed(masks)
        history = MaskHistory(self._masks, self._state, warehouse)
        asked = {
            key: history.asked_as_now(key, columns)
            for key in (each.table.name.lower() for each in found)
        }
        looked = [self._look(each, columns, mixed, masks, asked) for each in found]
        names = frozenset(
            one.name for _, contents in looked if contents is not None for one in contents.held
        )
        branches = tuple(
            BranchErasure(each.branch, each.table, each.files)
            for each in find_branch_holdings(
                warehouse,
                columns,
                lambda target: self._hashed.get(target, self._subject),
                names,
                self._masks,
            )
        )
        left = (
            *self._left(carriers, records),
            *abandoned_tables(self._compilation, carriers, records, warehouse),
        )
        report = EraseReport(
            applied=False,
            column=self._subject.column,
            tables=tuple(table for table, _ in looked),
            branches=branches,
            left=left,
            sources=self._sources(carriers),
            plans=len(list((self._project.root / PLANS_FOLDER).glob("*.json"))),
        )
        return self._apply(report, columns) if self._request.apply else report

    def _find_hashed(self, masks: Mapping[str, str | None]) -> "dict[str, Subject]":
        """What tables are asked for that hold the key hashed, where the key of hashes is here."""
        secret = self._project.config.governance.hash_key
        subject = None if secret is None else self._subject.hashed_by(secret)
        if subject is None:
            return {}
        return {target: subject for target, mask in masks.items() if mask == _HASHED}

    def _look(
        self,
        found: "RecordedTable",
        columns: Mapping[str, Sequence[str]],
        mixed: Mapping[str, Sequence[str]],
        masks: Mapping[str, str | None],
        asked: Mapping[str, frozenset[int]],
    ) -> "tuple[TableErasure, TableContents | None]":
        from rocky.maintenance.erasure.contents import look_into  # noqa: PLC0415
        from rocky.maintenance.erasure.obstacles import find_erasure_obstacle  # noqa: PLC0415

        table, snapshot, _ = found
        keys, key = tuple(columns[table.name.lower()]), table.name.lower()
        subject = self._hashed.get(key, self._subject)
        mask = None if key in self._hashed else masks[key]
        reason = find_erasure_obstacle(found, keys, subject, asked[key], mixed[key], mask)
        version = snapshot.version
        if reason is not None:
            said = TableErasure(
                table=table.name,
                model=found.model,
                status="refused",
                columns=keys,
                from_version=version,
                reason=reason,
            )
            return said, None
        contents = look_into(table, snapshot, keys, subject, asked[key])
        return table_held(found, keys, contents), contents

    def _left(self, carriers: "Carriers", records: Mapping[str, object]) -> tuple[Remainder, ...]:
        from rocky.ledger.readers.table import TableRecords  # noqa: PLC0415
        from rocky.maintenance.erasure.carriers import target_of  # noqa: PLC0415

        found = []
        for name in carriers.derived:
            target = target_of(self._compilation, name)
            known = records.get((target or "").lower())
            if target is None or not isinstance(known, TableRecords):
                continue
            whole = known.execution.strategy in WHOLE_STRATEGIES
            advice = (
                "it does not carry the key, so it cannot be asked; the next `rocky run` builds it"
                " anew from what is left, and `rocky erase --resume` then removes its older"
                " versions"
                if whole
                else "it does not carry the key, so it cannot be asked, and it keeps rows that it"
                f" once took in; `rocky run --model {name} --full-refresh` builds it anew, and"
                " then `rocky erase --resume` removes its older versions"
            )
            found.append(Remainder(target, advice))
        return tuple(found)

    def _sources(self, carriers: "Carriers") -> tuple[Remainder, ...]:
        advice = "it is only read: delete the rows there first, or the next run brings them back"
        found = [Remainder(name, advice) for name in carriers.sources]
        for name in carriers.columns:
            seed = self._project.seeds.get(name.lower())
            if seed is not None and name.lower() not in self._project.models:
                found.append(
                    Remainder(
                        seed.path,
                        "it is a file of the project: take the rows out of it and out of its past"
                        " in git, or `rocky seed` brings them back",
                    )
                )
            table = self._project.sources.get(name.lower())
            if isinstance(table, PipelineTable) and not table.reads:
                found.append(self._undeclared(table))
        return tuple(dict.fromkeys(found))

    def _undeclared(self, table: PipelineTable) -> Remainder:
        """What a pipeline copies or loads that no source declares."""
        name = table.pipeline
        pipeline = self._project.config.pipeline.get(name)
        if isinstance(pipeline, LoadPipeline):
            return Remainder(
                str(written(pipeline.source_dir)),
                f"files from which `{name}` loads: take the rows out of them, and then"
                f" `rocky run --pipeline {name} --full-refresh`; without it a file that was"
                " changed is loaded beside the rows that it had",
            )
        return Remainder(
            table.name,
            f"pipeline `{name}` copies it: delete the rows where it copies them from first, or the"
            " next run brings them back",
        )

    def _apply(self, report: EraseReport, columns: Mapping[str, Sequence[str]]) -> EraseReport:
        _refuse_obstacles(report, with_branches=self._request.with_branches)
        pending = {each.table.lower() for each in report.tables if each.status == "pending"}
        if not pending and not report.branches:
            return report
        # The last thing before: what could refuse the erasure has been asked.
        deleted = tuple(sorted({each.branch for each in report.branches}))
        for name in deleted:
            delete(self._workspace, DeleteRequest(name))
        report = replace(report, branches=(), branches_deleted=deleted)
        if not pending:
            return report
        from rocky.maintenance.erasure.order import ErasureOrder  # noqa: PLC0415
        from rocky.maintenance.erasure.subject import new_receipt  # noqa: PLC0415
        from rocky.maintenance.erasure.work import erase_rows  # noqa: PLC0415
        from rocky.run.prepare.session import open_run  # noqa: PLC0415

        receipt, project = new_receipt(), self._project
        caller = caller_of(self._workspace, project, self._state)
        with open_run(project, self._adapter, caller) as opened:
            circumstances = opened.resources.circumstances
            order = ErasureOrder(
                self._subject,
                receipt,
                str(self._request.reason).strip(),
                circumstances.triggering_identity or "unknown",
                {each.name: each.advice for each in report.left},
                {each.name: each.advice for each in report.sources},
                masks=self._masks,
                keys=columns,
                hashed=self._hashed,
            )
            wanted = {target: columns[target] for target in pending}
            certificate = erase_rows(opened, wanted, order, datetime.now(UTC))
        if certificate is None:
            return report
        seal_deed(self._workspace, project, "run", certificate.run_id)
        return certified_report(
            certificate, receipt, {each.table: each for each in report.tables}, report
        )


def _refuse_obstacles(report: EraseReport, *, with_branches: bool) -> None:
    """Raise RunRefused for whatever would leave rows of the subject behind."""
    refused = next((each for each in report.tables if each.status == "refused"), None)
    if refused is not None:
        raise RunRefused(f"nothing was erased: `{refused.table}` is in the way: {refused.reason}")
    if report.branches and not with_branches:
        names = sorted({each.branch for each in report.branches})
        listed = ", ".join(f"`rocky branch delete {each}`" for each in names)
        raise RunRefused(
            "nothing was erased: branches hold such rows too, and would go on holding them;"
            f" {listed}, or erase with `--with-branches`, which deletes them"
        )

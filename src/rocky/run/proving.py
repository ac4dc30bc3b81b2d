"""Proving: what was recorded of a build so that it can be checked, made again and taken over.

A build is indexed, and so may stand for a later one, only when nothing is in doubt: it succeeded,
every input was identified by content, and the model gives the same rows each time.
"""

import json
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Final

from rocky.compiler.fingerprints import ir_text_of
from rocky.ledger.provenance import InputIndexEntry, LayoutRecord, ProvenanceRecord
from rocky.ledger.record import RunId
from rocky.plan.steps import RunPlan, Step
from rocky.project.strategies import replaces_all
from rocky.run.build import NO_WINDOW, Window
from rocky.run.environment import Environment
from rocky.run.inputs import Inputs
from rocky.run.pinning import PinnedTable
from rocky.run.repeating import repeats
from rocky.run.step_results import BuildOrders, StepResult
from rocky.spark.layout import Layout
from rocky.store.snapshot import ROWS_HASH


@dataclass(frozen=True, slots=True)
class Proof:
    """What is recorded beside an execution."""

    provenance: ProvenanceRecord | None = None
    index: tuple[InputIndexEntry, ...] = ()


NO_PROOF: Final = Proof()


class Prover:
    """Makes the proofs of one run."""

    def __init__(
        self, plan: RunPlan, orders: BuildOrders, inputs: Inputs, environment: Environment
    ) -> None:
        self._plan = plan
        self._orders = orders
        self._inputs = inputs
        self._environment = environment

    @property
    def env_hash(self) -> str:
        return self._environment.hash

    def prove(self, step: Step, result: StepResult, now: datetime) -> Proof:
        """The proof of a build that succeeded; an inline step or a seed has none."""
        if result.made_from is None or result.built is None or result.pinned is None:
            return NO_PROOF
        provenance = self._provenance(step, result, result.pinned, now)
        if (
            result.failure is not None
            or provenance.proof_class != "strong"
            or not repeats(self._plan, step.key)
        ):
            return Proof(provenance)
        # The same hash where nothing that is read has a hash of its rows.
        found = {provenance.cutoff_hash: "rows", provenance.input_hash: "content"}
        return Proof(
            provenance,
            tuple(
                _indexed(provenance, basis, hashed)
                for hashed, basis in found.items()
                if hashed is not None
            ),
        )

    def _provenance(
        self, step: Step, result: StepResult, pinned: PinnedTable, now: datetime
    ) -> ProvenanceRecord:
        made_from, orders = result.made_from, self._orders
        assert made_from is not None
        model = self._plan.project.models[step.key]
        certain = result.changed_source is None and result.failure is None
        snapshot = pinned.snapshot
        inputs = made_from.inputs
        return ProvenanceRecord(
            run_id=orders.run_id,
            model_name=step.name,
            target=model.target.full_name,
            recipe_hash=made_from.fingerprints.recipe,
            skip_hash=made_from.fingerprints.skip_hash,
            model_ir_canonical_json=ir_text_of(self._plan.compilation, step.key),
            executed_sql=result.sql,
            now=orders.now,
            recorded_at=now,
            input_hash=made_from.input_hash if certain else None,
            cutoff_hash=made_from.cutoff_hash if certain else None,
            proof_class=made_from.proof if certain else None,
            env_hash=self._environment.hash,
            env_canonical_json=self._environment.json,
            upstreams=made_from.upstreams if certain else (),
            cutoff_upstreams=made_from.cutoff_upstreams if certain else (),
            output_blake3=tuple(file.address for file in snapshot.files),
            output_path=tuple(str(pinned.table.place_of(file)) for file in snapshot.files),
            output_version=snapshot.version,
            base_version=None if replaces_all(model.strategy) else _base_version(result),
            rows_hash=snapshot.configuration.get(ROWS_HASH),
            layout=_layout(result.layout),
            full_refresh=orders.refreshes(step.key),
            window=_window(orders.window_of(step.key)),
            parameters=self._inputs.parameters_of(model, inputs) if model.is_python else {},
            reads=tuple(map(self._inputs.again, inputs)),
        )


def _base_version(result: StepResult) -> int | None:
    """The version of the table that a build found; None where there was none."""
    assert result.built is not None
    assert result.pinned is not None
    if not result.built.commits:
        return result.pinned.snapshot.version
    first = result.built.commits[0].snapshot.version
    return first - 1 if first > 0 else None


def _indexed(provenance: ProvenanceRecord, basis: str, hashed: str) -> InputIndexEntry:
    assert provenance.output_version is not None
    assert provenance.env_hash is not None
    return InputIndexEntry(
        input_hash=hashed,
        basis=basis,
        run_id=RunId(provenance.run_id),
        model_name=provenance.model_name,
        target=provenance.target,
        commit_version=provenance.output_version,
        proof_class="strong",
        env_hash=provenance.env_hash,
        recorded_at=provenance.recorded_at,
        output_blake3=provenance.output_blake3,
        output_path=provenance.output_path,
    )


def _layout(layout: Layout | None) -> LayoutRecord | None:
    if layout is None:
        return None
    return LayoutRecord(
        layout.canonical,
        layout.pieces,
        layout.partition_columns,
        layout.cluster_by,
        layout.max_rows_per_file,
    )


def _window(window: Window) -> str | None:
    """Which time intervals were asked for, as JSON; None for none in particular."""
    # What was computed before matters only to know what is missing.
    asked = window if window.missing else replace(window, recorded=frozenset())
    if asked == NO_WINDOW:
        return None
    unset = asdict(NO_WINDOW)
    values = {name: value for name, value in asdict(asked).items() if value != unset[name]}
    return json.dumps(values, sort_keys=True, default=sorted)

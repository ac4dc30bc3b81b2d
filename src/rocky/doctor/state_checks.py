"""Checks of the state: whether it can be read, is of a version we know, and can be written."""

import os
import uuid
from pathlib import Path

from rocky.doctor.patient import Patient
from rocky.doctor.results import Diagnosis, critical, healthy, warning
from rocky.errors import LedgerLocked
from rocky.ledger import SCHEMA_VERSION, open_reader
from rocky.ledger.claims import living_runs
from rocky.ledger.database import find_version
from rocky.project.state import State
from rocky.remote.probe import Probe, probe_rw, probe_sync

_BACKEND = "look at `[state]` in `rocky.toml`, at the credentials in the environment, and at the"


def check_state(patient: Patient) -> Diagnosis:
    """The local file: it opens, and what runs go on from can be read."""
    path = patient.require_state_path()
    try:
        reader = open_reader(path)
        if reader is None:
            return healthy(f"no state yet: `{path}` is made by the first run")
        with reader:
            totals, marks = reader.totals(), reader.watermarks()
        living = living_runs(path)
    except LedgerLocked as locked:
        return warning(str(locked), "ask again when it has ended")
    said = f"`{path}` has {totals.runs} runs and {len(marks)} watermarks"
    if living:
        said += f"; run `{living[0].run_id}` is going on (process {living[0].process})"
    return healthy(said)


def check_state_schema(patient: Patient) -> Diagnosis:
    """The version of the local file's tables."""
    path = patient.require_state_path()
    version = find_version(path)
    if version is None:
        return healthy(f"no state yet; it will have schema {SCHEMA_VERSION}")
    if version > SCHEMA_VERSION:
        return critical(
            f"`{path}` has schema {version}, and this Rocky knows up to {SCHEMA_VERSION}",
            "upgrade Rocky, or name another file with `--state-path`",
        )
    if version < SCHEMA_VERSION:
        said = f"schema {version}; the next run brings it forward to {SCHEMA_VERSION}"
        return healthy(said)
    return healthy(f"schema {version}")


def check_state_sync(patient: Patient) -> Diagnosis:
    """Whether the state elsewhere can be read, and how the local file stands to it."""
    state, path = _state_of(patient), patient.require_state_path()
    return _of_probe(probe_sync(state, path, patient.environment), "server")


def check_state_rw(patient: Patient) -> Diagnosis:
    """Whether the state can be written where it is kept."""
    state, path = _state_of(patient), patient.require_state_path()
    if state.backend != "local":
        return _of_probe(probe_rw(state, path, patient.environment), "rights to write there")
    return _try_folder(path)


def _state_of(patient: Patient) -> State:
    return patient.require_project().config.state


def _of_probe(probe: Probe, place: str) -> Diagnosis:
    return (
        healthy(probe.message) if probe.passed else critical(probe.message, f"{_BACKEND} {place}")
    )


def _try_folder(path: Path) -> Diagnosis:
    """A file made and removed beside the state: SQLite needs to make some there too."""
    probe = path.with_name(f"{path.name}.probe-{uuid.uuid4().hex}")
    try:
        probe.write_bytes(b"rocky")
        probe.unlink()
    except OSError as failure:
        probe.unlink(missing_ok=True)
        return critical(
            f"cannot write in `{path.parent}`: {(failure.strerror or str(failure)).lower()}",
            "give yourself the right to write there, or name another file with `--state-path`",
        )
    if path.exists() and not os.access(path, os.R_OK | os.W_OK):
        return critical(f"`{path}` cannot be written", "give yourself the right to write it")
    return healthy(f"`{path.parent}` can be written")

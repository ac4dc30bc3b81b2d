"""Checkpoints, checked: those that were recorded are there, and nothing else lies in a log.

Readers of Delta believe a checkpoint without looking at the commits it stands for, so one that was
changed changes the table.
"""

import io
import json
import re
from collections.abc import Mapping
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
from blake3 import blake3

from rocky.evidence.findings import FindingCode, Findings
from rocky.evidence.places import TablePlace
from rocky.evidence.tables import ExpectedTable, History
from rocky.store.checkpoint import FAILED
from rocky.store.log import FOLDER

_CHECKPOINT: Final = re.compile(r"(\d{20})\.checkpoint\.parquet")
_HINT: Final = "_last_checkpoint"


def check_checkpoints(
    place: TablePlace,
    expected: ExpectedTable,
    files: Mapping[str, bytes],
    commits: tuple[set[int], History],
    findings: Findings,
) -> None:
    """Check the files of a log that are no commits.

    `commits` are the versions that nobody recorded, and what the table was at each version.
    """
    unrecorded, history = commits
    said = {
        f"{version:020d}.checkpoint.parquet": commit.record.checkpoint_blake3
        for version, commit in sorted(expected.commits.items())
        if commit.record.checkpoint_blake3 is not None
    }
    for name, digest in said.items():
        where, data = place.place(f"{FOLDER}/{name}"), files.get(name)
        if data is None:
            why = "the checkpoint was recorded and is gone"
            findings.add(FindingCode.COMMIT_MISSING, where, why)
        else:
            findings.expect(
                blake3(data).hexdigest() == digest,
                FindingCode.COMMIT_CHANGED,
                where,
                "the checkpoint is not the one that was recorded: readers would believe it",
            )
    fresh = [name for name in files if name not in said and _version(name) in unrecorded]
    for name in files:
        if name not in said and name not in fresh and name != _HINT:
            findings.add(
                FindingCode.LOG_FILE_UNKNOWN,
                place.place(f"{FOLDER}/{name}"),
                "no record has this file of the log: it was put there by another tool or by hand",
            )
    # A commit that is not recorded yet may have a checkpoint that is not either.
    if not fresh and (said or _HINT in files):
        newest = max(said, default="")
        hint = files.get(_HINT)
        starts = said if newest and _is_unfinished(expected, _version(newest)) else [newest]
        findings.expect(
            (hint is None and starts is said)
            or any(_describes(hint, name, files.get(name, b""), history) for name in starts),
            FindingCode.COMMIT_CHANGED,
            place.place(f"{FOLDER}/{_HINT}"),
            "it does not describe the newest recorded checkpoint, where readers start from",
        )


def _is_unfinished(expected: ExpectedTable, version: int | None) -> bool:
    """Whether whoever made a checkpoint may not have come to say so in the hint."""
    if version is None:
        return False
    commit = expected.commits[version]
    if commit.record.run_id is not None:
        return True
    return any(
        maker == commit.maker and FAILED in (execution.action or "")
        for maker, execution in expected.executions
    )


def _describes(hint: bytes | None, name: str, checkpoint: bytes, history: History) -> bool:
    """Whether a hint says of a checkpoint what is true; what is not known here may be anything."""
    version = _version(name)
    live = history.states.get(version) if version is not None else None
    try:
        said: Any = json.loads(hint or b"{}")
        facts = {
            "version": version,
            "size": pq.read_metadata(io.BytesIO(checkpoint)).num_rows,
            "sizeInBytes": len(checkpoint),
            "numOfAddFiles": len(live) if live is not None else said.get("numOfAddFiles"),
        }
        return "version" in said and all(facts.get(key, each) == each for key, each in said.items())
    except (ValueError, AttributeError, TypeError, pa.ArrowException, OSError):
        return False


def _version(name: str) -> int | None:
    found = _CHECKPOINT.fullmatch(name)
    return int(found[1]) if found else None

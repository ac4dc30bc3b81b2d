"""The checkpoints of a log, and the hint that names the newest.

Readers of Delta believe a checkpoint without looking at the commits it stands for, so one that was
changed changes the table. One that was recorded has the recorded bytes; one of a commit that is not
recorded yet says what the commits do.
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
from rocky.evidence.records import TablePlace
from rocky.evidence.tables import ExpectedTable, TableHistory
from rocky.store.delta.actions import parse_commit
from rocky.store.delta.checkpoint import tells_of
from rocky.store.delta.log import CHECKPOINT_FAILED, LOG_FOLDER
from rocky.store.delta.snapshot import Replay

_COMMIT: Final = re.compile(r"(\d{20})\.json")
_DAMAGED: Final = (ValueError, KeyError, TypeError, AttributeError, RecursionError)
_CHECKPOINT: Final = re.compile(r"(\d{20})\.checkpoint\.parquet")
_HINT: Final = "_last_checkpoint"


def check_checkpoints(
    place: TablePlace,
    expected: ExpectedTable,
    files: Mapping[str, bytes],
    commits: tuple[set[int], TableHistory],
    findings: Findings,
) -> None:
    """Check the files of a log (`files` are all of them) that are no commits.

    `commits` are the versions that nobody recorded, and what the table was at each version.
    """
    unrecorded, history = commits
    said = {
        f"{version:020d}.checkpoint.parquet": commit.record.checkpoint_blake3
        for version, commit in sorted(expected.commits.items())
        if commit.record.checkpoint_blake3 is not None
    }
    for name, digest in said.items():
        where, data = place.place(f"{LOG_FOLDER}/{name}"), files.get(name)
        if data is None:
            why = "the checkpoint was recorded and is gone"
            findings.add(FindingCode.COMMIT_MISSING, where, why)
        else:
            findings.expect(
                blake3(data).hexdigest() == digest,
                FindingCode.COMMIT_CHANGED,
                where,
                "the checkpoint is not the one that was recorded: readers would use it",
            )
    fresh = [name for name in files if name not in said and _version(name) in unrecorded]
    for name in fresh:
        findings.expect(
            _tells_of_commits(files, name, files[name]),
            FindingCode.COMMIT_CHANGED,
            place.place(f"{LOG_FOLDER}/{name}"),
            "no record has the checkpoint yet, and it says otherwise than the commits do: readers"
            " would use it; remove it",
        )
    for name in files:
        is_commit = _COMMIT.fullmatch(name) is not None
        if name not in said and name not in fresh and name != _HINT and not is_commit:
            findings.add(
                FindingCode.LOG_FILE_UNKNOWN,
                place.place(f"{LOG_FOLDER}/{name}"),
                "no record has this file of the log: it was put there by another tool or by hand",
            )
    # A commit that is not recorded yet may have a checkpoint that is not either.
    if not fresh and (said or _HINT in files):
        newest = max(said, default="")
        hint = files.get(_HINT)
        starts = said if newest and _may_lack_hint(expected, _version(newest)) else [newest]
        findings.expect(
            (hint is None and starts is said)
            or any(_hint_fits(hint, name, files.get(name, b""), history) for name in starts),
            FindingCode.COMMIT_CHANGED,
            place.place(f"{LOG_FOLDER}/{_HINT}"),
            "it does not describe the newest recorded checkpoint, where readers start from",
        )


def _tells_of_commits(files: Mapping[str, bytes], name: str, checkpoint: bytes) -> bool:
    """Whether a checkpoint says what the commits up to its version do."""
    version = int(name[:20])
    replay = Replay()
    try:
        for each in range(version + 1):
            replay.apply(parse_commit(files[f"{each:020d}.json"]), 0)
        return tells_of(checkpoint, replay.snapshot(version, foreign=True))
    except _DAMAGED:
        return False


def _may_lack_hint(expected: ExpectedTable, version: int | None) -> bool:
    """Whether whoever made a checkpoint may not have come to say so in the hint."""
    if version is None:
        return False
    commit = expected.commits[version]
    if commit.record.run_id is not None:
        return True
    return any(
        maker == commit.maker and CHECKPOINT_FAILED in (execution.action or "")
        for maker, execution in expected.executions
    )


def _hint_fits(hint: bytes | None, name: str, checkpoint: bytes, history: TableHistory) -> bool:
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

"""Changes: what one commit does to a table, said so that a conflict can be resolved.

`base` is the snapshot a change was computed from. Blind appends and whole replacements hold on
any later snapshot and are rebased; every other change that meets a foreign commit is refused
with `ConcurrentChange`, because its rows would have to be computed again.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from rocky.datatypes.types import StructField
from rocky.store.files import DataFile
from rocky.store.snapshot import Snapshot

Operation = Literal["REPLACE", "APPEND", "MERGE", "OVERWRITE"]


@dataclass(frozen=True, slots=True)
class Change:
    """One commit to be made.

    REPLACE makes `adds` the whole content; APPEND adds; MERGE and OVERWRITE add `adds` and remove
    the files at the paths `removes`. `schema` and `partition_columns` are those of the table after
    the change; while files stay, only columns may be added and NOT NULL dropped. `properties`
    replace table properties of the same names, and REPLACE drops all other `rocky.` ones. An append
    that sets a property which another writer has set meanwhile (a watermark) is refused, not
    rebased. `info` goes into commitInfo (runId, model, recipeHash, ledgerHead ...). `transaction`
    (application id, version) makes the commit happen at most once.
    """

    operation: Operation
    base: Snapshot | None
    schema: tuple[StructField, ...]
    partition_columns: tuple[str, ...]
    adds: tuple[DataFile, ...]
    removes: frozenset[str] = frozenset()
    properties: Mapping[str, str] = field(default_factory=dict)
    info: Mapping[str, str] = field(default_factory=dict)
    transaction: tuple[str, int] | None = None


@dataclass(frozen=True, slots=True)
class Committed:
    """What a commit did. `repeated` is True when its transaction had been committed before.

    `warnings` say what failed after the commit and did not undo it, such as a checkpoint.
    `commit_hash` is of the bytes of the file that is version `snapshot.version` of the log, and
    `checkpoint_hash` of the checkpoint made after it, if one was due. A repeated commit has none
    when others have committed since.
    """

    snapshot: Snapshot
    added: tuple[DataFile, ...]
    removed: tuple[str, ...]
    repeated: bool = False
    warnings: tuple[str, ...] = ()
    commit_hash: str | None = None
    checkpoint_hash: str | None = None

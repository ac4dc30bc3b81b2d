"""A snapshot: everything a table's log says at one version, made by replaying its actions.

Actions must come commit by commit; inside one commit their order means nothing, so removes are
applied before adds.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, Final

from blake3 import blake3

from rocky.language.datatypes.types import StructField
from rocky.store.data_file import DataFile, is_addressed, name_of
from rocky.store.delta.actions import (
    DEFAULT_PROTOCOL,
    Action,
    KeptAction,
    Protocol,
    parse_add,
    parse_path,
    parse_protocol,
    unreadable_feature,
)
from rocky.store.delta.schema import parse_schema
from rocky.store.delta.signature import FENCE, HIGHEST_FENCE

ROWS_HASH: Final = "rocky.rowsHash"
"""Table property: the order-independent 128-bit hash of all rows, 32 hex digits."""
FILES_HASH: Final = "rocky.filesHash"
"""Table property: `files_hash` of the files of the version, of which `ROWS_HASH` was computed.

Other tools change a table and leave its properties as they are; so the rows hash is believed only
while the files are still these.
"""
MASKS: Final = "rocky.maskDigest"
"""Table property: what tells the masks that the rows were written with; none where nothing was."""
MASKS_ABOVE: Final = "rocky.inputMasks"
"""Table property: by column what tells the masks of the tables that it was made from, as JSON."""
WATERMARK: Final = "rocky.watermark"
"""Table property of an incremental model: the highest value loaded, as JSON."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A table at a version. `files` is sorted by name; `configuration` holds table properties.

    `transactions` maps an application id to its highest committed version: what makes a retried
    append harmless. `metadata` is the log's own `metaData` action, whose other keys commits keep.
    `info` is what the newest commit says of itself; empty where only a checkpoint is left of it.
    `unproven` is one made of a checkpoint that no record has, because the commits are gone.
    """

    version: int
    schema: tuple[StructField, ...]
    partition_columns: tuple[str, ...]
    files: tuple[DataFile, ...]
    configuration: Mapping[str, str]
    transactions: Mapping[str, int]
    table_id: str
    timestamp_ms: int
    protocol: Protocol = DEFAULT_PROTOCOL
    metadata: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)
    info: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)
    unproven: bool = field(default=False, compare=False)

    @property
    def rows(self) -> int:
        return sum(file.rows for file in self.files)

    @property
    def bytes(self) -> int:
        return sum(file.size for file in self.files)


def files_hash(paths: Iterable[str]) -> str:
    """The hex BLAKE3 of the sorted names of files, a line each: a clone has the same ones."""
    names = sorted(map(name_of, paths))
    return blake3("".join(f"{name}\n" for name in names).encode()).hexdigest()


def has_other_files(actions: Iterable[Action], paths: Iterable[str]) -> bool:
    """Whether a commit of a run says that its table has other files than it has after it.

    Then it was made while commits before it were not what they are now; not so of a first one.
    """
    configurations = [
        dict(said.get("configuration") or {}) for each in actions if (said := each.get("metaData"))
    ]
    infos = (each["commitInfo"] for each in actions if each.get("commitInfo"))
    digest = configurations[-1].get(FILES_HASH) if configurations else None
    # Other tools copy properties that they do not know.
    return "runId" in next(infos, {}) and digest not in (None, files_hash(paths))


class UnreadableLog(ValueError):
    """Actions that do not make a table Rocky can read; the message says why."""


class Replay:
    """The state that actions have built up, from a known snapshot or from nothing."""

    def __init__(self, known: Snapshot | None = None) -> None:
        self._protocol: Protocol | None = None
        self._metadata: Mapping[str, Any] | None = None
        self._files: dict[str, DataFile] = {}
        self._transactions: dict[str, int] = {}
        self._timestamp_ms = 0
        self._info: Mapping[str, Any] = {}
        if known is not None:
            self._protocol, self._metadata = known.protocol, known.metadata
            self._files = {file.path: file for file in known.files}
            self._transactions = dict(known.transactions)
            self._timestamp_ms = known.timestamp_ms
            self._info = known.info

    def apply(self, actions: Iterable[Action], timestamp_ms: int) -> None:
        """One commit, or a whole checkpoint; `timestamp_ms` is when, if it does not say."""
        self._timestamp_ms, self._info = timestamp_ms, {}
        try:
            self._apply(actions)
        except (KeyError, TypeError, AttributeError) as error:
            raise UnreadableLog(f"an action lacks its parts ({error})") from error

    def _apply(self, actions: Iterable[Action]) -> None:
        adds: list[DataFile] = []
        for action in actions:
            for kind, value in action.items():
                if value is None:
                    continue
                match kind:
                    case "add":
                        adds.append(parse_add(value))
                    case "remove":
                        self._files.pop(parse_path(value), None)
                    case "metaData":
                        self._metadata = value
                    case "protocol":
                        self._protocol = parse_protocol(value)
                    case "txn":
                        self._mark(value["appId"], int(value["version"]))
                    case "commitInfo":
                        self._info = value
                        self._timestamp_ms = int(value.get("timestamp", self._timestamp_ms))
                    case _:
                        pass
        self._files.update((file.path, file) for file in adds)

    def _mark(self, application: str, version: int) -> None:
        # Runs count by one. A higher token would be that of nobody, and every later run would
        # have to write one above it, which readers of Delta could not read.
        if application != FENCE or 0 <= version <= HIGHEST_FENCE:
            self._transactions[application] = version

    def snapshot(self, version: int, *, foreign: bool = False) -> Snapshot:
        """The table as it is now; `foreign` if it is not ours. Raises `UnreadableLog`."""
        if self._protocol is None or self._metadata is None:
            raise UnreadableLog("the log names no protocol or no schema")
        metadata = self._metadata
        configuration = dict(metadata.get("configuration") or {})
        feature = unreadable_feature(self._protocol, configuration)
        if feature is not None:
            raise UnreadableLog(f"it uses {feature}, which Rocky does not read")
        partition_columns = tuple(metadata.get("partitionColumns") or ())
        if not foreign:
            self._refuse_foreign_partitions(partition_columns)
        if configuration.get(FILES_HASH) != files_hash(self._files):
            configuration.pop(ROWS_HASH, None)
            configuration.pop(FILES_HASH, None)
        return Snapshot(
            version=version,
            schema=parse_schema(metadata["schemaString"]),
            partition_columns=partition_columns,
            files=tuple(sorted(self._files.values(), key=attrgetter("name", "path"))),
            configuration=configuration,
            transactions=dict(self._transactions),
            table_id=metadata["id"],
            timestamp_ms=self._timestamp_ms,
            protocol=self._protocol,
            metadata=KeptAction.of(metadata),
            info=KeptAction.of(self._info),
        )

    def _refuse_foreign_partitions(self, partition_columns: tuple[str, ...]) -> None:
        """Other writers leave partition columns out of the files, where they would read as null."""
        if not partition_columns:
            return
        foreign = next((path for path in self._files if not is_addressed(path)), None)
        if foreign is not None:
            raise UnreadableLog(
                f"file `{foreign}` of the partitioned table was written by another tool, which"
                " leaves the partition columns out of its files; build the table again"
            )

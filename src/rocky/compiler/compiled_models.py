"""The models of a compilation: IR by key, unpacked from records when somebody asks."""

from collections.abc import Iterator, Mapping

from rocky.compiler.records import Record, unpack_model
from rocky.ir.model import ModelIr
from rocky.project import Project


class CompiledModels(Mapping[str, ModelIr]):
    """Models by key. A model that could not be bound is not among them.

    `stamp` is that of the cache files; None when the compile was to leave them alone.
    """

    __slots__ = ("_project", "_records", "_unpacked", "stamp")

    def __init__(
        self, project: Project, records: Mapping[str, Record], stamp: bytes | None = None
    ) -> None:
        self._project = project
        self._records = records
        self._unpacked: dict[str, ModelIr] = {}
        self.stamp = stamp

    def __getitem__(self, key: str) -> ModelIr:
        found = self._unpacked.get(key)
        if found is None:
            found = unpack_model(self._project.models[key].name, self._records[key])
            self._unpacked[key] = found
        return found

    def __contains__(self, key: object) -> bool:
        return key in self._records

    def __iter__(self) -> Iterator[str]:
        return iter(self._records)

    def __len__(self) -> int:
        return len(self._records)

    def record(self, key: str) -> Record:
        """What is kept of a model, for those who need a little of very many."""
        return self._records[key]

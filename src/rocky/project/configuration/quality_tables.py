"""The tables of a quality pipeline: of the warehouse, declared sources, or tables of Spark.

A table of the warehouse is named by catalogue and schema, all of a schema by these alone.
"""

from typing import Annotated, Any, Final, NamedTuple

from rocky.project.configuration.paths import CatalogName, FolderName
from rocky.project.toml.documents import Problem, Problems, ReadBy
from rocky.project.toml.records import INVALID, reader_for
from rocky.project.toml.variables import Keys

_ALONE: Final = ("source", "spark_table")
_PARTS: Final = ("catalog", "schema", "table")
_HELP: Final = (
    'write `{ catalog = "...", schema = "..." }`, `{ source = "..." }` or `{ spark_table = "..." }`'
)


class QualityTable(NamedTuple):
    """A table to check; without `table`, every table of the schema.

    `source` is the name of a declared source, `spark_table` that of a table in Spark's catalogue.
    """

    catalog: CatalogName | None = None
    schema: FolderName | None = None
    table: FolderName | None = None
    source: str | None = None
    spark_table: str | None = None

    @property
    def place(self) -> tuple[str, str, str | None] | None:
        """Catalogue, schema and table of the warehouse; None for a table that is elsewhere."""
        if self.catalog is None or self.schema is None:
            return None
        return self.catalog, self.schema, self.table

    @property
    def label(self) -> str:
        """The name as it is written."""
        parts = (self.catalog, self.schema, self.table)
        written = ".".join(part for part in parts if part is not None)
        return self.source or self.spark_table or written


def _read_table(value: Any, at: Keys, problems: Problems) -> Any:
    read = reader_for(QualityTable)(value, at, problems)
    if read is INVALID:
        return INVALID
    alone = [key for key in _ALONE if key in value]
    parts = [key for key in _PARTS if key in value]
    if len(alone) > 1 or (alone and parts):
        other = (*alone, *parts)[1]
        said = f"`{alone[0]}` names the whole table, and `{other}` another"
        problems.append(Problem((*at, other), said, "make an entry of each", on_key=True))
        return INVALID
    missing = [key for key in _PARTS[:2] if key not in value] if not alone else []
    if missing:
        problems.append(Problem(at, f"missing key `{missing[0]}`", _HELP))
        return INVALID
    if alone and not all(value[alone[0]].split(".")):
        problems.append(Problem((*at, alone[0]), "this is not the name of a table"))
        return INVALID
    return read


QualityTableSetting = Annotated[QualityTable, ReadBy(_read_table)]

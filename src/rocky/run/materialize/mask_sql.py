"""Mask SQL: what stands in the place of a table's columns before anything of it is written."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from rocky.analysis.column_masks import digest_of
from rocky.analysis.compilation import Compilation
from rocky.language.names import quote_name


@dataclass(frozen=True, slots=True)
class MaskSql:
    """What masks a table: by lower-case column the SQL in its place; `digest` tells it from others.

    A table without masks has an empty digest. `above` tells by column the masks of other tables,
    which its values have from there.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    digest: str = ""
    above: Mapping[str, str] = field(default_factory=dict)

    def apply(self, names: Sequence[str]) -> str:
        """The select list of columns, over the columns themselves."""
        return ", ".join(
            f"{self.columns[name.lower()]} AS {quote_name(name)}"
            if name.lower() in self.columns
            else quote_name(name)
            for name in names
        )


NO_MASK_SQL: Final = MaskSql()


def mask_sql_of(compilation: Compilation, key: str) -> MaskSql:
    """What masks the table of a model or a seed."""
    masks = compilation.masks.of(key)
    above = compilation.masks.above.get(key, {})
    if not masks and not above:
        return NO_MASK_SQL
    digest = digest_of(masks) if masks else ""
    return MaskSql({name: each.sql for name, each in masks.items()}, digest, above)

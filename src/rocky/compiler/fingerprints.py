"""The fingerprints of compiled models: the IR joined with the settings that shape its table.

Most compiles ask for none and some for all of them, so they are not part of a model's record: those
that were asked for once are remembered in a cache file of their own.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Final, NamedTuple

from blake3 import blake3
from msgspec.msgpack import Decoder

from rocky.analysis.column_masks import (
    NO_TABLE_MASKS,
    TableMasks,
    digest_of,
    documents_of,
)
from rocky.analysis.compilation import Compilation, unpack_body, unpack_schema
from rocky.language.datatypes.text import decode_type
from rocky.language.ir import (
    INFLUENCE_ROLES,
    LINEAGE_KINDS,
    Meaning,
    Recipe,
    SkipHash,
    hash_meaning,
    ir_text,
)
from rocky.project import ModelFile
from rocky.project.cache import load_values, pack, save_values
from rocky.project.configuration.model import Store
from rocky.project.configuration.strategies import Strategy

FINGERPRINTS: Final = "fingerprints.bin"
_REMEMBERED: Final = Decoder(dict[str, tuple[bytes, Recipe, SkipHash]])


class Fingerprints(NamedTuple):
    """Both hashes of a model."""

    recipe: Recipe
    skip_hash: SkipHash


def materialization_of(
    model: ModelFile, store: Store, masks: TableMasks = NO_TABLE_MASKS
) -> dict[str, Any]:
    """How a model's table is brought up to date, masked and cut into files, as JSON values.

    `store` is the project's; a model may have its own.
    """
    options = model.settings.format_options
    layout = {
        "canonical": (model.settings.store or store).canonical,
        "cluster_by": list(options.cluster_by) if options is not None else [],
        "partition_by": list(options.partition_by) if options is not None else [],
    }
    found = {**_as_values(model.strategy), "layout": layout}
    return {**found, "masks": documents_of(masks)} if masks else found


def _materialization(compilation: Compilation, model: ModelFile) -> dict[str, Any]:
    """The same with the masks of a compilation, also those that values have from other tables."""
    masks, above = compilation.masks.of(model.key), compilation.masks.above.get(model.key)
    found = materialization_of(model, compilation.project.config.store, masks)
    return {**found, "input_masks": dict(above)} if above else found


@lru_cache(maxsize=1024)
def _as_values(strategy: Strategy) -> dict[str, Any]:
    return {
        key: list(value) if isinstance(value, tuple) else value
        for key, value in strategy._asdict().items()
    }


def ir_text_of(compilation: Compilation, key: str) -> str:
    """The IR document of a model as the canonical JSON whose hash is its recipe."""
    return ir_text(_meaning(compilation, key))


def fingerprints_of(compilation: Compilation, keys: Iterable[str]) -> dict[str, Fingerprints]:
    """The fingerprints of the compiled ones among some models, remembered where nothing changed."""
    models, project = compilation.models, compilation.project
    root = project.root
    # What a record was bound from does not say how its table is cut into files.
    store = repr(project.config.store).encode()
    known = load_values(root, FINGERPRINTS, models.stamp, _REMEMBERED) if models.stamp else {}
    found: dict[str, Fingerprints] = {}
    fresh: dict[str, tuple[bytes, Recipe, SkipHash]] = {}
    for key in keys:
        if key not in models:
            continue
        settings = project.models[key].settings_hash
        masks = digest_of(compilation.masks.of(key)).encode()
        masks += repr(compilation.masks.above.get(key, "")).encode()
        identity = blake3(pack(tuple(models.record(key))) + settings + store + masks).digest(16)
        remembered = known.get(key)
        if remembered is None or remembered[0] != identity:
            hashes = hash_meaning(_meaning(compilation, key))
            remembered = fresh[key] = (identity, *hashes)
        found[key] = Fingerprints(remembered[1], remembered[2])
    if fresh and models.stamp:
        kept = {key: value for key, value in known.items() if key in models}
        save_values(root, FINGERPRINTS, models.stamp, kept | fresh)
    return found


def _meaning(compilation: Compilation, key: str) -> Meaning:
    """What a model's fingerprints are made of, from what its record holds."""
    model, record = compilation.project.models[key], compilation.models.record(key)
    columns, _ = unpack_schema(record)
    details, origins, influences, _, normal, functions, *_ = unpack_body(record)
    return Meaning(
        model.name,
        model.sql,
        normal.hex(),
        model.target.full_name,
        _materialization(compilation, model),
        [(name, decode_type(kind), nullable) for name, kind, nullable in columns],
        [
            (column[0], LINEAGE_KINDS[source & 7], origins[source >> 3][1], origins[source >> 3][0])
            for column, detail in zip(columns, details, strict=True)
            for source in detail[3]
        ],
        [(INFLUENCE_ROLES[role], origins[at][1], origins[at][0]) for at, role in influences],
        record.reads,
        record.determinism,
        [(name, digest.hex()) for name, digest in functions],
    )

"""What a model takes over from its folder and its pipeline, and how its own settings win."""

from dataclasses import dataclass
from typing import Any, Final

from blake3 import blake3

from rocky.project.patterns import ModelPattern
from rocky.project.rules import Problems
from rocky.project.settings import FolderDefaults, ModelSettings, merge_freshness
from rocky.project.shapes import read_record
from rocky.project.strategies import FullRefresh

_FULL_REFRESH: Final = FullRefresh()
_NO_SETTINGS: Final = ModelSettings()


@dataclass(frozen=True, slots=True)
class Inherited:
    """What every model of a folder starts from; made once a folder and pattern.

    `digest` covers all of it: a model that inherits something else has another digest.
    """

    root: str
    pipeline: str | None
    settings: ModelSettings
    catalog: str
    schema: str
    digest: bytes


def inherit(root: str, pattern: ModelPattern, defaults: FolderDefaults, digest: bytes) -> Inherited:
    """The start of the models a pattern has in a folder with these defaults."""
    catalog = defaults.target.catalog or pattern.catalog
    schema = defaults.target.schema or pattern.schema
    settings = ModelSettings(
        strategy=defaults.strategy or _FULL_REFRESH,
        intent=defaults.intent,
        freshness=defaults.freshness,
        tags=defaults.tags,
        lints=defaults.lints,
    )
    own = f"{pattern.pipeline}\0{catalog}\0{schema}\0".encode()
    return Inherited(
        root, pattern.pipeline, settings, catalog, schema, blake3(own + digest).digest()
    )


def resolve_settings(data: dict[str, Any], base: Inherited, problems: Problems) -> ModelSettings:
    """A model's own settings over those it inherits."""
    own = read_record(ModelSettings, data, (), problems) or _NO_SETTINGS
    inherited = base.settings
    changes: dict[str, Any] = {}
    if own.strategy is None:
        changes["strategy"] = inherited.strategy
    if own.intent is None and inherited.intent is not None:
        changes["intent"] = inherited.intent
    if inherited.freshness is not None:
        changes["freshness"] = merge_freshness(inherited.freshness, own.freshness)
    if inherited.tags:
        changes["tags"] = {**inherited.tags, **own.tags}
    if inherited.lints:
        changes["lints"] = {**inherited.lints, **own.lints}
    return own._replace(**changes) if changes else own

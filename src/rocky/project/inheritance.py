"""Inheritance: what a model takes from its folder, its pipeline and its project.

Settings of its own win over all of them.
"""

from dataclasses import dataclass
from typing import Any, Final

from blake3 import blake3

from rocky.project.configuration.config import ModelPattern
from rocky.project.configuration.model import FolderDefaults, ModelSettings
from rocky.project.configuration.named_tests import (
    NO_SHARED_TESTS,
    SharedTests,
    with_named_tests,
)
from rocky.project.configuration.strategies import FullRefresh
from rocky.project.toml.documents import Problems
from rocky.project.toml.records import read_record

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
    tests: SharedTests = NO_SHARED_TESTS


def inherit(
    root: str,
    pattern: ModelPattern,
    defaults: FolderDefaults,
    digest: bytes,
    tests: SharedTests = NO_SHARED_TESTS,
) -> Inherited:
    """The start of the models a pattern has in a folder with these defaults."""
    catalog = defaults.target.catalog or pattern.catalog
    schema = defaults.target.schema or pattern.schema
    settings = ModelSettings(
        strategy=defaults.strategy or _FULL_REFRESH,
        owner=defaults.owner or pattern.owner,
        intent=defaults.intent,
        tags=defaults.tags,
        meta=defaults.meta,
        lints=defaults.lints,
    )
    owner = f"owner {pattern.owner}\0" if pattern.owner else ""
    own = f"{pattern.pipeline}\0{catalog}\0{schema}\0{owner}".encode()
    digest = blake3(own + digest + tests.digest).digest()
    return Inherited(root, pattern.pipeline, settings, catalog, schema, digest, tests)


def resolve_settings(data: dict[str, Any], base: Inherited, problems: Problems) -> ModelSettings:
    """A model's own settings over those it inherits."""
    tests = data.get("tests")
    if isinstance(tests, list) and any(isinstance(each, dict) and "use" in each for each in tests):
        begun = with_named_tests(tests, base.tests.tests, ("tests",), problems)
        data = {**data, "tests": begun}
    own = read_record(ModelSettings, data, (), problems) or _NO_SETTINGS
    inherited = base.settings
    changes: dict[str, Any] = {}
    if own.strategy is None:
        changes["strategy"] = inherited.strategy
    if own.owner is None and inherited.owner is not None:
        changes["owner"] = inherited.owner
    if own.intent is None and inherited.intent is not None:
        changes["intent"] = inherited.intent
    if inherited.tags:
        changes["tags"] = {**inherited.tags, **own.tags}
    if inherited.meta:
        changes["meta"] = {**inherited.meta, **own.meta}
    if inherited.lints:
        changes["lints"] = {**inherited.lints, **own.lints}
    return own._replace(**changes) if changes else own

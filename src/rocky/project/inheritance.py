"""Inheritance: what a model takes from its group, its folder, its pipeline and its project.

Settings of its own win over those of its group, these over those of its folder. Classifications are
only added to.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from blake3 import blake3

from rocky.canonical import ascii_json
from rocky.diagnostics.suggestion import suggestion
from rocky.project.configuration.classifications import find_lowered, merge_tags
from rocky.project.configuration.config import Config, ModelPattern
from rocky.project.configuration.model import FolderDefaults, ModelSettings, merge_defaults
from rocky.project.configuration.named_tests import NO_TESTS, with_named_tests
from rocky.project.configuration.strategies import FullRefresh
from rocky.project.toml.documents import Problem, Problems
from rocky.project.toml.records import read_record

_FULL_REFRESH: Final = FullRefresh()
_NO_SETTINGS: Final = ModelSettings()


class SharedSettings(NamedTuple):
    """What models of all folders may share: named tests, groups, and the file that has them.

    `order` is that of tags, the highest first.
    """

    path: str
    tests: Mapping[str, Mapping[str, Any]] = NO_TESTS
    groups: Mapping[str, FolderDefaults] = {}
    order: tuple[str, ...] = ()

    def digest(self, *, tagged: bool) -> bytes:
        """A digest of what they say; empty when there are none.

        The order of tags has a say only where tags are given, by the folder (`tagged`) or a group.
        """
        tagged = tagged or any(each.classification for each in self.groups.values())
        order = [self.order] if tagged and self.order else []
        if not self.tests and not self.groups and not order:
            return b""
        # A value may be a date, which JSON does not have.
        said = ascii_json([self.tests, self.groups, *order], default=str)
        return blake3(said.encode("utf-8", "surrogatepass")).digest()


NOTHING_SHARED: Final = SharedSettings("rocky.toml")


def shared_settings(path: str, config: Config) -> SharedSettings:
    """What the models of a project share, by the settings in a file."""
    return SharedSettings(path, config.test, config.group, config.classifications.order)


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
    shared: SharedSettings = NOTHING_SHARED


def inherit(
    root: str,
    pattern: ModelPattern,
    defaults: FolderDefaults,
    digest: bytes,
    shared: SharedSettings = NOTHING_SHARED,
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
        freshness=defaults.freshness,
        classification=defaults.classification,
    )
    owner = f"owner {pattern.owner}\0" if pattern.owner else ""
    own = f"{pattern.pipeline}\0{catalog}\0{schema}\0{owner}".encode()
    digest = blake3(own + digest + shared.digest(tagged=bool(defaults.classification))).digest()
    return Inherited(root, pattern.pipeline, settings, catalog, schema, digest, shared)


def inherit_defaults(
    outer: FolderDefaults, own: FolderDefaults, shared: SharedSettings, problems: Problems
) -> FolderDefaults:
    """The defaults of a folder inside another."""
    problems += find_lowered(outer.classification, own.classification, shared.order)
    return merge_defaults(outer, own)


def in_group(name: Any, base: Inherited) -> Inherited:
    """What a model of a group starts from; the same when there is no such group."""
    group = base.shared.groups.get(name) if isinstance(name, str) else None
    if group is None:
        return base
    before = base.settings
    settings = before._replace(
        strategy=group.strategy or before.strategy,
        owner=group.owner or before.owner,
        intent=group.intent or before.intent,
        tags={**before.tags, **group.tags},
        meta={**before.meta, **group.meta},
        lints={**before.lints, **group.lints},
        freshness=group.freshness or before.freshness,
        classification=merge_tags(before.classification, group.classification),
    )
    catalog, schema = group.target.catalog or base.catalog, group.target.schema or base.schema
    return replace(base, settings=settings, catalog=catalog, schema=schema)


def _unknown_group(name: str, known: Iterable[str]) -> Problem:
    hint = suggestion(name, known) or f"declare it in `rocky.toml`: `[group.{name}]`"
    return Problem(("group",), f"there is no group `{name}`", hint)


def _both_ways(own: ModelSettings) -> Iterable[Problem]:
    """Declassifications of what the model says itself, and its folder too."""
    for index, each in enumerate(own.declassify):
        for name, tags in own.classification.items():
            if name.lower() == each.column.lower() and each.tag in tags:
                said = f"`{each.column}` is given the tag `{each.tag}` by this model itself"
                hint = "take it out of `[classification]`"
                yield Problem(("declassify", index, "tag"), said, hint)


def resolve_settings(data: dict[str, Any], base: Inherited, problems: Problems) -> ModelSettings:
    """A model's own settings over those it inherits."""
    tests = data.get("tests")
    if isinstance(tests, list) and any(isinstance(each, dict) and "use" in each for each in tests):
        begun = with_named_tests(tests, base.shared.tests, ("tests",), problems)
        data = {**data, "tests": begun}
    own = read_record(ModelSettings, data, (), problems) or _NO_SETTINGS
    if own.group is not None and own.group not in base.shared.groups:
        problems.append(_unknown_group(own.group, base.shared.groups))
    inherited = in_group(own.group, base).settings
    changes: dict[str, Any] = {}
    if own.strategy is None:
        changes["strategy"] = inherited.strategy
    if own.owner is None and inherited.owner is not None:
        changes["owner"] = inherited.owner
    if own.intent is None and inherited.intent is not None:
        changes["intent"] = inherited.intent
    if own.freshness is None and inherited.freshness is not None:
        changes["freshness"] = inherited.freshness
    if inherited.tags:
        changes["tags"] = {**inherited.tags, **own.tags}
    if inherited.meta:
        changes["meta"] = {**inherited.meta, **own.meta}
    if inherited.classification:
        taken_off = {(each.column.lower(), each.tag) for each in own.declassify}
        told = own.classification
        problems += find_lowered(inherited.classification, told, base.shared.order, taken_off)
        problems += _both_ways(own)
        changes["classification"] = merge_tags(inherited.classification, own.classification)
    if inherited.lints:
        changes["lints"] = {**inherited.lints, **own.lints}
    return own._replace(**changes) if changes else own

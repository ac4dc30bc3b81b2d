"""The state of a branch: everything that an approval covers, as one document with one hash.

Only declared inputs are in it: what the project's files say, what the branch's tables hold, what
the change breaks. Where the checkout lies, what time it is, what git says and the approvals
themselves are not, so that signing changes nothing that was signed.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from rocky.analysis.changes.change import Impact, ProjectDiff
from rocky.analysis.compilation import Compilation
from rocky.branches.tables import BranchTable, BranchView
from rocky.canonical import canonical_json, text_hash
from rocky.compiler.fingerprints import fingerprints_of
from rocky.errors import ApprovalRefused
from rocky.language.datatypes.text import field_to_json
from rocky.project import Project
from rocky.project.imports import ImportedTable
from rocky.project.pipeline_tables import PipelineTable
from rocky.project.seeds import SeedTable
from rocky.run.materialize.mask_sql import mask_sql_of
from rocky.run.materialize.seeds import seed_hash, seed_target
from rocky.store.delta.snapshot import Snapshot

STATE_VERSION: Final = 2
"""The version of what the state hash is made of."""
NO_CHANGE: Final = "none"
UNKNOWN: Final = "unknown"

_PARTS: Final = {
    ("code", "models"): "code of model",
    ("code", "seeds"): "seed",
    ("code", "sources"): "source",
    ("code", "imports"): "import",
    ("code", "functions"): "function",
    ("contracts",): "contract of",
    ("tables",): "table",
}
"""Where the document has one entry a thing, and what such a thing is called."""
_WHOLES: Final = {"config_hash": "the settings in `rocky.toml`", "verdict": "the verdict"}


@dataclass(frozen=True, slots=True)
class BranchState:
    """What is approved. `document` is JSON: names and hashes, never a value of anybody's."""

    document: Mapping[str, Any]

    @property
    def hash(self) -> str:
        """The BLAKE3 of the document's canonical JSON."""
        return hash_state(self.document)

    @property
    def verdict(self) -> str:
        """The worst impact of the changes, or `none`, or `unknown`."""
        return str(self.document["verdict"]["impact"])


def hash_state(document: Mapping[str, Any]) -> str:
    return text_hash(canonical_json(document))


def compute_state(
    compilation: Compilation, view: BranchView, diff: ProjectDiff | None
) -> BranchState:
    """The state of a branch: of its code, its changed tables, and the verdict on the change.

    Without a `diff`, because there is no commit to compare with, the verdict is `unknown`.
    Raises ApprovalRefused when the project does not compile: nobody knows then what it makes.
    """
    project = compilation.project
    return BranchState(
        {
            "version": STATE_VERSION,
            "code": {
                "models": _models(compilation),
                "seeds": {
                    each.name: _seed(each, key, compilation) for key, each in project.seeds.items()
                },
                "sources": _sources(project),
                "imports": {
                    name: each.snapshot.hash
                    for name, each in project.imports.items()
                    if each.snapshot is not None
                },
                **_functions(project),
            },
            "config_hash": project.config_hash.hex(),
            "contracts": {
                each.model: text_hash(each.document.text) for each in project.contracts.values()
            },
            "tables": {each.target: _table(each) for each in view.changed},
            "verdict": _verdict(diff),
        }
    )


def find_changed_parts(approved: Mapping[str, Any], present: Mapping[str, Any]) -> tuple[str, ...]:
    """What is not as it was approved, in words; empty only when the two are equal."""
    if approved.get("version") != present.get("version"):
        # Its parts cannot be compared: each may say more, or less, than it did.
        return ("what an approval covers, with another release of Rocky",)
    found = [
        f"{words} `{name}`"
        for path, words in _PARTS.items()
        for name in _differing(_part(approved, path), _part(present, path))
    ]
    found += [words for key, words in _WHOLES.items() if approved.get(key) != present.get(key)]
    if not found and hash_state(approved) != hash_state(present):
        found = ["what a state is made of"]
    return tuple(found)


def _part(document: Mapping[str, Any], path: Iterable[str]) -> Mapping[str, Any]:
    """A table of the document; one that is not there, in a document of somebody's, is empty."""
    found: Any = document
    for key in path:
        found = found.get(key) if isinstance(found, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _differing(one: Mapping[str, Any], other: Mapping[str, Any]) -> Iterator[str]:
    for name in sorted(one.keys() | other.keys()):
        if one.get(name) != other.get(name):
            yield name


def _functions(project: Project) -> dict[str, Any]:
    """The declared functions: also those that no model calls, which checks may."""
    found = {each.name: each.signature.digest.hex() for each in project.functions.values()}
    return {"functions": found} if found else {}


def _models(compilation: Compilation) -> dict[str, Any]:
    project = compilation.project
    found = fingerprints_of(compilation, project.models)
    documents = {}
    for key, model in project.models.items():
        if compilation.has_errors or key not in found:
            raise ApprovalRefused(
                "the project has errors, so what it would make is not known;"
                " `rocky compile` shows them"
            )
        documents[model.name] = {
            "recipe_hash": found[key].recipe,
            # Tests, tags, classifications: what no recipe speaks of and readers rely on.
            "settings_hash": model.settings_hash.hex(),
        }
    return documents


def _seed(seed: SeedTable, key: str, compilation: Compilation) -> dict[str, str]:
    project = compilation.project
    return {
        "seed_hash": seed_hash(seed, mask_sql_of(compilation, key)),
        "target": seed_target(seed, project.config).full_name,
    }


def _sources(project: Project) -> dict[str, str]:
    """A source is known by its file as it is written: values from the environment stay out."""
    return {
        each.name: text_hash(each.document.text)
        for each in project.sources.values()
        if not isinstance(each, ImportedTable | PipelineTable)
    }


def _table(table: BranchTable) -> dict[str, Any]:
    document: dict[str, Any] = {}
    if table.base is not None:
        document["base_version"] = table.base
    if table.branch is not None:
        document["content"] = table.content
        document["layout"] = _layout(table.branch)
        document["rows"] = table.branch.rows
    return document


def _layout(snapshot: Snapshot) -> str:
    """A hash of all that readers see besides the files: columns, partitions, properties.

    And statistics, because readers leave out files by them: false ones hide rows.
    """
    said = {
        "columns": [field_to_json(each) for each in snapshot.schema],
        "partition_columns": list(snapshot.partition_columns),
        "partitions": {
            file.address: dict(file.partition_values)
            for file in snapshot.files
            if file.partition_values
        },
        "properties": dict(snapshot.configuration),
        "statistics": {file.address: file.stats for file in snapshot.files},
    }
    return text_hash(canonical_json(said))


def _verdict(diff: ProjectDiff | None) -> dict[str, Any]:
    if diff is None:
        return {"impact": UNKNOWN}
    changes = []
    counts: dict[str, int] = {}
    for table, change in diff.changes:
        said = {
            "table": None if table is None else table.name,
            "rule": change.rule,
            "impact": change.impact.value,
            "column": change.column,
            "before": change.before,
            "after": change.after,
            "reaches": sorted([each.model, each.column, each.side] for each in change.reaches),
        }
        changes.append({key: value for key, value in said.items() if value is not None})
        counts[change.impact.value] = counts.get(change.impact.value, 0) + 1
    changes.sort(key=canonical_json)
    worst = NO_CHANGE if diff.impact is None else diff.impact.value
    uncompared = sorted(each.name for each in diff.uncompared)
    if uncompared and diff.impact is not Impact.BREAKING:
        worst = UNKNOWN
    return {
        "impact": worst,
        "counts": counts,
        "changes_hash": text_hash(canonical_json(changes)),
        **({"uncompared": uncompared} if uncompared else {}),
    }

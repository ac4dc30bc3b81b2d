"""`rocky.toml`: the project's settings, typed, every default filled in; which files are models.

A bare `[adapter]` or `[pipeline]` is the one called `default`. Reading never fails: what is wrong
is reported and its default stands, so that the models are judged all the same. In `models =
"models/**"` a `**` is any number of folders, `*` and `?` stay inside one name, and a plain folder
means everything below it; the first pipeline that matches a file owns it.
"""

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from rocky.diagnostics.suggestion import suggestion
from rocky.project.configuration import governed_catalog
from rocky.project.configuration.blocks import (
    Adapter,
    Branch,
    Compile,
    Cost,
    Evidence,
    Gc,
    Import,
    Maintenance,
    Portability,
    Publish,
    Python,
    Resilience,
    Reuse,
    SchemaEvolution,
    State,
    adapter_key,
)
from rocky.project.configuration.classifications import (
    NO_CLASSIFICATIONS,
    ClassificationSettings,
    check_classifications,
)
from rocky.project.configuration.clear_values import find_clear_problems
from rocky.project.configuration.governance import NO_GOVERNANCE, Governance, find_level_problems
from rocky.project.configuration.grants import Grant, Role
from rocky.project.configuration.hooks import NO_HOOKS, Hooks
from rocky.project.configuration.masks import NO_MASKS, MaskSettings
from rocky.project.configuration.model import (
    NO_LEVELS,
    Budget,
    FolderDefaults,
    LintLevels,
    Store,
)
from rocky.project.configuration.named_tests import NO_TESTS, NamedTests, with_named_tests
from rocky.project.configuration.paths import escapes_project
from rocky.project.configuration.pipeline_rules import (
    check_load,
    check_snapshot,
    find_check_problems,
    find_dependency_circles,
)
from rocky.project.configuration.pipelines import (
    NO_SCHEDULE,
    LoadPipeline,
    PipelineSetting,
    ReplicationPipeline,
    SnapshotPipeline,
    TransformationPipeline,
)
from rocky.project.configuration.replication_rules import check_replication
from rocky.project.configuration.row_filters import RowFilter, find_filter_problems
from rocky.project.toml.documents import Problem, Problems, Refusal, refuses
from rocky.project.toml.records import block_of, read_record
from rocky.project.toml.variables import Keys, written


@refuses(
    run=Refusal(
        "a run always reuses what is unchanged",
        "set `[reuse]`, or use `rocky run --no-reuse`",
    ),
    retry=Refusal(
        "`[resilience]` limits the retries of a run", "set `max_retries_per_run` in `[resilience]`"
    ),
    cache=Refusal("Rocky keeps no schemas that it asked Spark for", "remove it"),
    freshness=Refusal(
        "each table has a time column and limits of its own",
        "write `freshness` in a source, a model's settings or a folder's `_defaults.toml`",
    ),
    schedule=NO_SCHEDULE,
)
class Config(NamedTuple):
    """Everything `rocky.toml` can say."""

    adapter: Mapping[str, Adapter] = {"default": Adapter()}
    pipeline: Mapping[str, PipelineSetting] = {}
    lints: LintLevels = NO_LEVELS
    compile: Compile = Compile()
    python: Python = Python()
    portability: Portability = Portability()
    state: State = State()
    budget: Budget = Budget()
    cost: Cost = Cost()
    store: Store = Store()
    reuse: Reuse = Reuse()
    gc: Gc = Gc()
    maintenance: Maintenance = Maintenance()
    resilience: Resilience = Resilience()
    schema_evolution: SchemaEvolution = SchemaEvolution()
    branch: Branch = Branch()
    evidence: Evidence = Evidence()
    imports: Mapping[str, Import] = {}
    publish: Publish = Publish()
    hook: Hooks = NO_HOOKS
    test: NamedTests = NO_TESTS
    classifications: ClassificationSettings = NO_CLASSIFICATIONS
    mask: MaskSettings = NO_MASKS
    governance: Governance = NO_GOVERNANCE
    group: Mapping[str, FolderDefaults] = {}
    role: Mapping[str, Role] = {}
    grant: tuple[Grant, ...] = ()
    row_filter: tuple[RowFilter, ...] = ()


DEFAULT_CONFIG: Final = Config()

_PLURALS: Final = {"adapters": "adapter", "pipelines": "pipeline", "hooks": "hook", "roles": "role"}
_PIPELINE_SIGNS: Final = ("source", "type", "models", "tables", "unique_key", "source_dir")


def read_config(data: dict[str, Any], problems: Problems) -> Config:
    """The settings in a parsed `rocky.toml`."""
    found: Problems = []
    table, shorthands = _normalise(data)
    table = _with_named_tests(table, found)
    config = read_record(Config, table, (), found) or DEFAULT_CONFIG
    _check_pipelines(config, found)
    found.extend(find_dependency_circles(config.pipeline))
    _check_checks(config, table.get("pipeline"), found)
    _check_state(config.state, table.get("state"), found)
    _check_branch(config.branch, found)
    check_classifications(config.classifications, config.publish.allow_tags, found)
    found.extend(find_clear_problems(config.classifications.tags, config.role))
    found.extend(find_level_problems(config.governance))
    of, told = governed_catalog.find_governance_problems, config.governance
    found += of(config.role, config.grant, told.catalog, told.tags)
    found += find_filter_problems(config.row_filter, config.role, told.catalog)
    problems.extend(_restore(problem, shorthands) for problem in found)
    return config


def _with_named_tests(table: dict[str, Any], problems: Problems) -> dict[str, Any]:
    """The settings with what named tests say in the assertions that begin from them."""
    named, pipelines = table.get("test"), table.get("pipeline")
    if not isinstance(pipelines, dict):
        return table
    made: dict[str, Any] = {}
    for name, pipeline in pipelines.items():
        checks = pipeline.get("checks") if isinstance(pipeline, dict) else None
        if isinstance(checks, dict) and "assertions" in checks:
            at = ("pipeline", name, "checks", "assertions")
            known = named if isinstance(named, dict) else {}
            assertions = with_named_tests(checks["assertions"], known, at, problems)
            pipeline = {**pipeline, "checks": {**checks, "assertions": assertions}}  # noqa: PLW2901 - the same, with more in it
        made[name] = pipeline
    return {**table, "pipeline": made}


def _normalise(data: dict[str, Any]) -> tuple[dict[str, Any], dict[str, tuple[str, bool]]]:
    """The singular, named form of the table; and how each block was really written."""
    table: dict[str, Any] = {}
    forms: dict[str, tuple[str, bool]] = {}
    for key, value in data.items():
        name = _PLURALS.get(key, key)
        if name in table or (name != key and name in data):
            table[key] = value
            continue
        bare = isinstance(value, dict) and (
            (name == "adapter" and not (value and _only_tables(value)))
            or (name == "pipeline" and any(sign in value for sign in _PIPELINE_SIGNS))
        )
        table[name] = {"default": value} if bare else value
        forms[name] = (key, bare)
    return table, forms


def _only_tables(value: dict[str, Any]) -> bool:
    """Whether `[adapter]` holds named adapters: an adapter's own tables are `conf` and `retry`."""
    return all(isinstance(one, dict) for one in value.values()) and not value.keys() & {
        "conf",
        "retry",
    }


def _restore(problem: Problem, forms: dict[str, tuple[str, bool]]) -> Problem:
    """The problem at the keys as they stand in the file."""
    if not problem.keys or problem.keys[0] not in forms:
        return problem
    key, bare = forms[str(problem.keys[0])]
    keys = (key, *problem.keys[2 if bare else 1 :])
    named = block_of(problem.keys[:-1])
    message = problem.message
    if named and message.endswith(named):
        message = f"{message.removesuffix(named)}{block_of(keys[:-1])}"
    return problem._replace(keys=keys, message=message)


def _check_pipelines(config: Config, problems: Problems) -> None:
    for name, pipeline in config.pipeline.items():
        at = ("pipeline", name)
        for index, other in enumerate(pipeline.depends_on):
            if other not in config.pipeline:
                problems.append(
                    Problem(
                        (*at, "depends_on", index),
                        f"no pipeline `{written(other)}`",
                        suggestion(written(other), config.pipeline),
                    )
                )
        adapter = pipeline.target.adapter
        if adapter_key(config.adapter, adapter) is None:
            problems.append(
                Problem(
                    (*at, "target", "adapter"),
                    f"no adapter `{written(adapter)}`",
                    suggestion(written(adapter), config.adapter)
                    or "adapters: " + ", ".join(f"`{one}`" for one in config.adapter),
                )
            )
        if isinstance(pipeline, TransformationPipeline):
            _check_patterns(pipeline, at, problems)
        if isinstance(pipeline, TransformationPipeline | ReplicationPipeline | LoadPipeline):
            copies, told = isinstance(pipeline, ReplicationPipeline), pipeline.target.governance
            of = governed_catalog.find_target_problems
            problems += of(told, config.governance.catalog, at, copies=copies)
        if isinstance(pipeline, ReplicationPipeline):
            check_replication(pipeline, at, problems)
        if isinstance(pipeline, LoadPipeline):
            check_load(pipeline, at, problems)
        if isinstance(pipeline, SnapshotPipeline):
            check_snapshot(pipeline, at, problems)


def _check_checks(config: Config, table: Any, problems: Problems) -> None:
    for name, pipeline in config.pipeline.items():
        if isinstance(pipeline, TransformationPipeline):
            continue
        said = table.get(name) if isinstance(table, Mapping) else None
        checks = said.get("checks") if isinstance(said, Mapping) else None
        at = ("pipeline", name, "checks")
        problems.extend(find_check_problems(pipeline.checks, pipeline.type, checks, at))


def _check_patterns(
    pipeline: TransformationPipeline, at: tuple[str, str], problems: Problems
) -> None:
    patterns = pipeline.models
    for index, pattern in enumerate((patterns,) if isinstance(patterns, str) else patterns):
        keys = (*at, "models") if isinstance(patterns, str) else (*at, "models", index)
        if escapes_project(pattern):
            problems.append(
                Problem(keys, "`models` leads out of the project", "name a folder inside it")
            )


def _check_branch(branch: Branch, problems: Problems) -> None:
    signers = branch.approval.allowed_signers
    if escapes_project(signers) or not signers.strip("./"):
        message = "`allowed_signers` must be a file of the project, so that it is reviewed with it"
        problems.append(Problem(("branch", "approval", "allowed_signers"), message))


_STATE_NEEDS: Final = {
    "s3": ("s3_bucket",),
    "valkey": ("valkey_url",),
    "tiered": ("valkey_url", "s3_bucket"),
}


_STATE_OF: Final = {
    "s3_bucket": ("s3", "tiered"),
    "s3_prefix": ("s3", "tiered"),
    "valkey_url": ("valkey", "tiered"),
    "valkey_prefix": ("valkey", "tiered"),
}
"""Settings of some backends, which say nothing to the others."""


def _check_state(state: State, table: Any, problems: Problems) -> None:
    for key, backends in _STATE_OF.items():
        if isinstance(table, dict) and key in table and state.backend not in backends:
            listed = " or ".join(f'"{each}"' for each in backends)
            problems.append(
                Problem(
                    ("state", key),
                    f"`{key}` has no effect: the state is kept by the `{state.backend}` backend",
                    f"set `backend = {listed}`, or remove it",
                    on_key=True,
                )
            )
    for key in _STATE_NEEDS.get(state.backend, ()):
        if key not in table:
            problems.append(
                Problem(("state", "backend"), f"the `{state.backend}` backend needs `{key}`")
            )


class ModelPattern(NamedTuple):
    """One pattern: the folder to walk, what to match (None: all below), and its pipeline.

    `at` is where in `rocky.toml` the pattern stands.
    """

    text: str
    folder: str
    matcher: re.Pattern[str] | None
    pipeline: str | None
    catalog: str
    schema: str
    at: Keys
    owner: str | None = None

    def owns(self, path: str) -> bool:
        if self.matcher is not None:
            return self.matcher.fullmatch(path) is not None
        return not self.folder or path.startswith(self.folder + "/")


DEFAULT_CATALOG = "spark_catalog"
DEFAULT_SCHEMA = "default"


def model_patterns(config: Config) -> list[ModelPattern]:
    """The patterns of all pipelines in order; `models/**` when no pipeline has models."""
    found: list[ModelPattern] = []
    some = False
    for name, pipeline in config.pipeline.items():
        if not isinstance(pipeline, TransformationPipeline):
            continue
        target = pipeline.target
        catalog, schema = target.catalog or DEFAULT_CATALOG, target.schema or DEFAULT_SCHEMA
        at = ("pipeline", name, "models")
        some = True
        texts = pipeline.models
        for index, text in enumerate((texts,) if isinstance(texts, str) else texts):
            keys = at if isinstance(texts, str) else (*at, index)
            if not escapes_project(text):
                made = _pattern(text, name, catalog, schema, keys)
                found.append(made._replace(owner=pipeline.owner))
    if some:
        return found
    return [_pattern("models/**", None, DEFAULT_CATALOG, DEFAULT_SCHEMA, ())]


def _pattern(text: str, pipeline: str | None, catalog: str, schema: str, at: Keys) -> ModelPattern:
    clean = text.removeprefix("./").strip("/")
    parts = clean.split("/")
    plain: list[str] = []
    for part in parts:
        if any(mark in part for mark in "*?["):
            break
        plain.append(part)
    rest = parts[len(plain) :]
    matcher: re.Pattern[str] | None
    if not rest and plain and plain[-1].lower().endswith((".sql", ".rocky", ".py")):
        plain.pop()
        matcher = re.compile(re.escape(clean))
    else:
        matcher = None if rest in ([], ["**"]) else re.compile(_regex(parts))
    return ModelPattern(text, "/".join(plain), matcher, pipeline, catalog, schema, at)


def _regex(parts: list[str]) -> str:
    """A pattern as a regular expression; a last `**` matches files, others whole folders."""
    made: list[str] = []
    for index, part in enumerate(parts):
        last = index == len(parts) - 1
        if part == "**":
            made.append(".*" if last else "(?:[^/]+/)*")
            continue
        text = "".join({"*": "[^/]*", "?": "[^/]"}.get(mark, re.escape(mark)) for mark in part)
        made.append(text if last else text + "/")
    return "".join(made)


def folders_to_walk(patterns: list[ModelPattern]) -> list[str]:
    """The folders of the patterns, without those inside another."""
    folders = sorted({pattern.folder for pattern in patterns})
    kept: list[str] = []
    for folder in folders:
        if not any(not above or folder.startswith(above + "/") for above in kept):
            kept.append(folder)
    return kept

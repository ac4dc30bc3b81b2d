"""Loading one model: its text and its sidecar or front matter -> `ModelFile`.

A model whose own files cannot be used still exists, so that its readers are not told that
it is unknown: it is *blocked*. This is the hot path of a first load: the plain case does
two small reads, two hashes and one record.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date, time
from typing import Any

from blake3 import blake3

from rocky.canonical import ascii_json
from rocky.diagnostics import Code, Diagnostic, Label
from rocky.diagnostics.diagnostic import Span
from rocky.language.dsl.mapped_text import MappedText
from rocky.language.macros.calls import has_calls
from rocky.language.macros.expansion import Expansion
from rocky.project.configuration.kept_rows import refuse_retention
from rocky.project.configuration.model import ModelSettings
from rocky.project.configuration.strategies import Snapshot
from rocky.project.files import Stamp, read_text
from rocky.project.inheritance import (
    NOTHING_SHARED,
    Inherited,
    SharedSettings,
    resolve_settings,
)
from rocky.project.macros import Macros, diagnose_fault, fault_span
from rocky.project.model_text import (
    FrontMatter,
    Variable,
    fill_variables,
    find_front_matter,
    find_variables,
    has_variables,
)
from rocky.project.models import ModelFile, SettingsPlace, stem_of
from rocky.project.python_models import check_python_model, refuse_python_settings
from rocky.project.setting_sql import assertion_sql, expand_assertions
from rocky.project.surrogate_keys import add_keys, refuse_keys
from rocky.project.toml.documents import Document, Problem, Problems, digest_data, parse_document
from rocky.project.toml.variables import Keys


@dataclass(frozen=True, slots=True)
class LoadContext:
    """A load in progress: where from, and what was found so far.

    `variables` are the values of `@var(name)`, `used` the names that models ask for; `macros` and
    `shared` are the project's.
    """

    root: str
    env: Mapping[str, str]
    diagnostics: list[Diagnostic]
    blocked: set[str] = field(default_factory=set)
    variables: Mapping[str, str] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    macros: Macros = field(default_factory=Macros)
    shared: SharedSettings = NOTHING_SHARED

    def report(self, diagnostic: Diagnostic) -> None:
        self.diagnostics.append(diagnostic)


def load_model(
    path: str,
    sidecar: str | None,
    stamps: tuple[Stamp, Stamp | None] | None,
    base: Inherited,
    loading: LoadContext,
) -> ModelFile:
    """The model at `path`. When its files are unusable it is reported and blocked."""
    before = len(loading.diagnostics)
    stem = stem_of(path)
    read = read_text(loading.root, path, loading.report)
    if read is None:
        loading.blocked.add(stem.lower())
    text, data = read or ("", b"")
    sql_offset, document = 0, None
    python = path.endswith(".py")
    matter = find_front_matter(text) if "---" in text[:200] and not python else None
    if matter:
        sql_offset = matter.sql_start
        document = _read_front_matter(path, text, matter, sidecar, loading)
    elif sidecar:
        document = _read_sidecar(sidecar, stem, loading)
    settings, digest, place = base.settings, base.digest, None
    expansions: dict[Keys, Expansion | None] = {}
    if document:
        settings = _read_settings(document, stem, base, loading, python=python)
        settings, expansions = _expand_tests(settings, document, stem, loading)
        made = "".join(each.text for each in expansions.values() if each is not None)
        digest = blake3(base.digest + digest_data(document) + made.encode()).digest()
        place = SettingsPlace(document.path, document.start)
    if not _is_name(settings.name or stem):
        loading.report(_bad_file_name(path))
    hashes = (blake3(data).digest(), digest)
    model = ModelFile.loaded(path, text, sql_offset, settings, place, base, hashes)
    model.setting_expansions = expansions
    varied = (not python and _fill(model, document, loading)) or bool(expansions)
    usable = stem.lower() not in loading.blocked
    if python and usable and not check_python_model(path, text, settings, document, loading.report):
        loading.blocked.add(stem.lower())
    if stem.lower() in loading.blocked:
        loading.blocked.add(model.key)
    if stamps and not varied and len(loading.diagnostics) == before and _is_plain(document):
        own = document.data if document else None
        start = document.start if document else 0
        model.row = (stamps, base.digest, hashes, model.marked, sql_offset, start, own)
    return model


def _expand_tests(
    settings: ModelSettings, document: Document, stem: str, loading: LoadContext
) -> tuple[ModelSettings, dict[Keys, Expansion | None]]:
    """A model's settings with the macros in the SQL of its tests expanded."""
    if not any(has_calls(each.sql) for each in assertion_sql(settings.tests, ())):
        return settings, {}
    tests, expansions = expand_assertions(
        settings.tests, ("tests",), loading.macros, document, loading.report, stem
    )
    return settings._replace(tests=tests), expansions


def _expand(model: ModelFile, loading: LoadContext) -> None:
    """Expand the macros that a model calls; where that cannot be, it is reported and blocked."""
    if model.key in loading.blocked:
        return
    found = loading.macros.expand(model.sql, keep=model.filled is None)
    if found is None:
        return
    if isinstance(found, list):
        for fault in found:
            place = model.place_in_file(fault_span(fault))
            told = replace(diagnose_fault(fault), path=model.path, span=place, model=model.name)
            loading.report(told)
        loading.blocked.add(model.key)
        return
    model.expanded = found
    model.settings_hash = blake3(model.settings_hash + found.text.encode()).digest()


def _fill(model: ModelFile, document: Document | None, loading: LoadContext) -> bool:
    """Whether a query is made of more than its text; what belongs into it is filled in."""
    varied = has_variables(model.text) or has_calls(model.text)
    if varied:
        _fill_variables(model, loading)
    if model.is_rocky:
        _check_rocky(model, loading)
    if varied:
        _expand(model, loading)
    keys = model.settings.surrogate_key
    if not keys or document is None:
        return varied
    if model.key not in loading.blocked:
        model.expanded = add_keys(model.sql, model.expanded, keys, document)
    return True


def _fill_variables(model: ModelFile, loading: LoadContext) -> None:
    """Fill in a model's variables; without all of their values it is reported and blocked."""
    if not has_variables(model.body):
        return
    found, missing = fill_variables(model.body, loading.variables)
    asked = [each.name for each in find_variables(model.body) if each.name]
    loading.used.update(asked)
    for each in missing:
        loading.report(_missing_variable(each, model))
    if missing:
        loading.blocked.add(model.key)
        return
    model.filled = found
    values = {name: loading.variables[name] for name in asked if name in loading.variables}
    model.settings_hash = blake3(model.settings_hash + ascii_json(values).encode()).digest()


def _check_rocky(model: ModelFile, loading: LoadContext) -> None:
    """Report a `.rocky` text that is no pipeline; its model is blocked."""
    if not loading.blocked.isdisjoint((model.key, stem_of(model.path).lower())):
        return
    # A project without such models shall not wait for the language.
    from rocky.language.dsl.lowering import lower_text  # noqa: PLC0415

    found = lower_text(model.body)
    if isinstance(found, MappedText):
        model.lowered = found
        return
    loading.blocked.add(model.key)
    loading.report(
        Diagnostic(
            Code.SYNTAX_ERROR,
            found.message,
            _written(found.span, model),
            model.path,
            help=found.help,
            model=model.name,
        )
    )


def _written(span: Span, model: ModelFile) -> Span:
    """A span of a model's body as one of its file."""
    if model.filled is not None:
        span = model.filled.written(span)
    return Span(span.start + model.sql_offset, span.end + model.sql_offset)


def _missing_variable(variable: Variable, model: ModelFile) -> Diagnostic:
    name = variable.name
    return Diagnostic(
        Code.MISSING_VARIABLE,
        f"the variable `{name}` has no value"
        if name
        else "a variable is written `@var(name)` or `@var(name, default)`",
        _written(variable.span, model),
        model.path,
        help=f"pass `--var {name}=...`, or give a default: `@var({name}, ...)`" if name else None,
        model=model.name,
    )


def _is_plain(document: Document | None) -> bool:
    """Whether what a model's TOML says can be written down and depends on nothing else."""
    return document is None or ("${" not in document.text and not _has_dates(document.data))


def _has_dates(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_has_dates, value.values()))
    if isinstance(value, list):
        return any(map(_has_dates, value))
    return isinstance(value, date | time)


def _bad_file_name(path: str) -> Diagnostic:
    return Diagnostic(
        Code.UNUSABLE_FILE,
        f"the model's name `{stem_of(path)}` has a `.` or a backtick in it",
        None,
        path,
        help="rename the file, or set `name` in its sidecar",
        model=stem_of(path),
    )


def _read_sidecar(path: str, stem: str, loading: LoadContext) -> Document | None:
    read = read_text(loading.root, path, loading.report)
    document = None
    if read:
        document = parse_document(path, read[0], loading.env, loading.report, model=stem)
    if document is None:
        loading.blocked.add(stem.lower())
    return document


def _read_front_matter(
    path: str, text: str, matter: FrontMatter, sidecar: str | None, loading: LoadContext
) -> Document | None:
    stem = stem_of(path)
    opening = Span(text.index("---"), matter.start)
    document = None
    if matter.end is None:
        problem = Problem((), "the front matter is not closed", "add a line `---` after it")
        loading.report(_at_opening(problem, opening, path))
    else:
        if sidecar:
            problem = Problem(
                (),
                f"model `{stem}` has front matter and a sidecar",
                f"move the settings of one into the other; `{sidecar}` is not read",
            )
            label = Label(None, "the sidecar", sidecar)
            loading.report(_at_opening(problem, opening, path, label))
        body = text[matter.start : matter.end]
        document = parse_document(
            path, body, loading.env, loading.report, start=matter.start, model=stem
        )
    if document is None:
        loading.blocked.add(stem.lower())
    return document


def _at_opening(problem: Problem, span: Span, path: str, *labels: Label) -> Diagnostic:
    return Diagnostic(
        Code.UNUSABLE_FILE,
        problem.message,
        span,
        path,
        labels=labels,
        help=problem.help,
        model=stem_of(path),
    )


def _read_settings(
    document: Document, stem: str, base: Inherited, loading: LoadContext, *, python: bool
) -> ModelSettings:
    problems: Problems = []
    settings = resolve_settings(document.data, base, problems)
    if not python:
        problems.extend(refuse_python_settings(settings))
    refused = list(refuse_keys(settings.surrogate_key, python=python))
    problems.extend(refused)
    if refused:
        settings = settings._replace(surrogate_key=())
    unfit = list(refuse_retention(settings.retention, settings.strategy))
    problems.extend(unfit)
    if unfit:
        settings = settings._replace(retention=None)
    if _dates_nothing(settings):
        problems.append(
            Problem(
                ("strategy", "null_updated_at"),
                "`null_updated_at` says what a null of `updated_at` means, which is not set",
                "set `updated_at`, or remove it",
                on_key=True,
            )
        )
    if settings.name is not None and not _is_name(settings.name):
        problems.append(
            Problem(
                ("name",),
                "a model's name is one part, without `.` or a backtick",
                "set `[target]` to choose catalog and schema",
            )
        )
        settings = settings._replace(name=None)
    for problem in problems:
        loading.report(document.diagnose(problem, model=stem))
    return settings


def _is_name(name: str) -> bool:
    return bool(name) and "." not in name and "`" not in name and name == name.strip()


def _dates_nothing(settings: ModelSettings) -> bool:
    """Whether a snapshot is told what a null time means and has no column of times."""
    strategy = settings.strategy
    return (
        isinstance(strategy, Snapshot)
        and strategy.updated_at is None
        and strategy.null_updated_at != Snapshot._field_defaults["null_updated_at"]
    )

"""`models = "models/**"`: which files of the project are models of which pipeline.

`**` is any number of folders, `*` and `?` stay inside one name, and a plain folder means
everything below it. The first pipeline that matches a file owns it.
"""

import re
from typing import NamedTuple

from rocky.project.config import Config, leads_out
from rocky.project.pipelines import TransformationPipeline
from rocky.project.variables import Keys


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
            if not leads_out(text):
                found.append(_pattern(text, name, catalog, schema, keys))
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
    if not rest and plain and plain[-1].lower().endswith((".sql", ".py")):
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

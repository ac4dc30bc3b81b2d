"""Redaction: which settings Spark itself must not show, in its event log and on its pages.

Spark hides a setting whose name, or whose value, its pattern is found in; its own default knows few
names. Ours has every setting of a project that may hold a secret, by its exact name and never by
its value, because the pattern is a setting too.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from rocky.project.secrets import is_secret

REDACTION: Final = "spark.redaction.regex"
_USUAL: Final = "(?i:secret|password|passwd|token|credential|access[.]?key|private[._]?key)"
"""Spark's own pattern, and a few words more."""
SPARKS_OWN: Final = "(?i)secret|password|token|access[.]?key"
"""What a Spark has that nobody gave another."""
_HADOOP: Final = "spark.hadoop."
_JAVA_OPTIONS: Final = "JavaOptions"
_PROPERTY: Final = re.compile(r"-D([^\s=\"']+)=")


def secret_settings(conf: Mapping[str, str]) -> tuple[str, ...]:
    """The names of settings whose values may be secrets: by name, or because a variable gave it."""
    return tuple(sorted(name for name, value in conf.items() if is_secret(name, value)))


def redaction_pattern(conf: Mapping[str, str]) -> str:
    """The pattern that a Spark of ours is started with: the project's own one, and ours."""
    names = sorted({shown for name in secret_settings(conf) for shown in _shown_as(name, conf)})
    exact = f"|^(?:{'|'.join(map(re.escape, names))})$" if names else ""
    own = conf.get(REDACTION)
    return f"(?:{own})|{_USUAL}{exact}" if own else f"{_USUAL}{exact}"


def uncovered_settings(conf: Mapping[str, str], pattern: str | None) -> tuple[str, ...]:
    """The secret settings that a Spark with this pattern would show; all when it cannot be told."""
    try:
        found = re.compile(SPARKS_OWN if pattern is None else pattern)
    except re.error:
        return secret_settings(conf)
    return tuple(name for name in secret_settings(conf) if not found.search(name))


def _shown_as(name: str, conf: Mapping[str, str]) -> Iterator[str]:
    """A setting's names in a log: Hadoop's also without their prefix, and Java's properties."""
    yield name
    if name.startswith(_HADOOP):
        yield name.removeprefix(_HADOOP)
    if name.endswith(_JAVA_OPTIONS):
        yield from _PROPERTY.findall(conf[name])

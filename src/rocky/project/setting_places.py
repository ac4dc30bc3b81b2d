"""Where a setting of an adapter is written: failures of Spark name the line they come from."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from rocky.diagnostics.diagnostic import SourceText
from rocky.errors import AdapterUnusable, SparkUnavailable
from rocky.project.configuration.blocks import Adapter
from rocky.project.project import Project
from rocky.project.secrets import STARS, conf_secrets, is_secret_name, url_without_password
from rocky.project.toml.parser import locate_keys
from rocky.project.toml.variables import Keys

_BLOCKS: Final = ("adapter", "adapters")
_CONF: Final = "conf"
_OWN: Final = ("master", "remote")


def setting_place(project: Project, adapter: Adapter, name: str) -> str | None:
    """`rocky.toml:7`: the line of a setting, by its name; None when the file does not have it.

    A name is `master`, `remote` or a setting of `[adapter.conf]`, however it is nested.
    """
    source: SourceText = project.texts[project.config_path]
    called = [key for key, each in project.config.adapter.items() if each.conf is adapter.conf]
    for keys, place in locate_keys(source.text).items():
        if _means(keys, name, called):
            return f"{project.config_path}:{source.line_of(place.value.start)}"
    return None


def _means(keys: Keys, name: str, called: list[str]) -> bool:
    if not keys or keys[0] not in _BLOCKS:
        return False
    rest = keys[1:]
    if rest and rest[0] in called and rest[0] not in (_CONF, *_OWN):
        rest = rest[1:]
    if name in _OWN:
        return rest == (name,)
    return len(rest) > 1 and rest[0] == _CONF and ".".join(map(str, rest[1:])) == name


@contextmanager
def placed_settings(project: Project, adapter: Adapter) -> Iterator[None]:
    """Inside, a Spark that is not to be had says at which lines of the project that was asked.

    Raises SparkUnavailable and AdapterUnusable as they were, with the places and what to do.
    """
    try:
        yield
    except (SparkUnavailable, AdapterUnusable) as failure:
        told = with_places(failure, project, adapter)
        if told == str(failure):
            raise
        if isinstance(failure, AdapterUnusable):
            raise AdapterUnusable(told) from failure
        raise SparkUnavailable(told, output=failure.output) from failure


def with_places(
    failure: SparkUnavailable | AdapterUnusable, project: Project, adapter: Adapter
) -> str:
    """What a failure says, with the lines of the settings that it was for and what to do."""
    lines = [conf_secrets(adapter.conf).scrub(str(failure))]
    for name in failure.settings:
        place = setting_place(project, adapter, name)
        if place is not None:
            lines.append(f"  --> {place}: `{name} = {_shown(adapter, name)}`")
    if isinstance(failure, SparkUnavailable) and failure.advice is not None:
        lines.append(f"  = help: {failure.advice}")
    return "\n".join(lines)


def _shown(adapter: Adapter, name: str) -> str:
    if is_secret_name(name):
        return STARS
    value = getattr(adapter, name) if name in _OWN else adapter.conf.get(name)
    return url_without_password(value or "")

"""What environment variables make of settings and sources, as a plan keeps it: one hash.

A value that came from a variable may be a secret, so a plan has none of them, and no hash that one
of them could be guessed from: all are hashed together, slowly, with the id of the ledger, which no
plan has either. What is a secret by its name is left out: a password that is changed decides
nothing, and must not outdate a plan.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from rocky.canonical import canonical_json
from rocky.project import Project
from rocky.project.configuration.blocks import Adapter
from rocky.project.secrets import is_secret_name
from rocky.project.sources import SourceTable
from rocky.project.toml.variables import Substituted
from rocky.run.prepare.environment import result_settings

_ROUNDS: Final = 100_000
_REFERENCE: Final = re.compile(r"(?<!\$)\$\{([A-Za-z_][A-Za-z0-9_]*)")
_IN_URL: Final = re.compile(
    r"(?P<user>://[^/@\s:]*:)[^/@\s]+(?=@)"
    r"|(?P<key>(?:password|passwd|pwd|secret|token|credential)=)[^&;\s]*",
    re.IGNORECASE,
)
_CHOOSING: Final = ("SPARK_REMOTE", "SPARK_HOME")
"""Variables that choose another Spark than the settings do."""
_FREE: Final = frozenset({"conf", "options"})
"""Settings below which names are not Rocky's: those that speak of secrets mean them."""
_BESIDE: Final = frozenset({"hook", "state", "schedule"})
"""Blocks that decide nothing that a run builds: where records are kept is told by the ledger."""


def variables_document(
    project: Project,
    adapter: Adapter,
    sources: Iterable[SourceTable],
    env: Mapping[str, str],
    ledger_id: str | None,
    *,
    foreseen: bool,
) -> dict[str, Any] | None:
    """The names of variables that have a say, and one hash of what they say; None without any.

    `foreseen` when the environment of the results is known, and so kept, by itself.
    """
    values: dict[str, str] = {}
    names: set[str] = set()
    written = project.texts[project.config_path].text
    if _REFERENCE.search(written):
        names.update(_REFERENCE.findall(written))
        values.update(_config_values(project, adapter))
    for source in sources:
        for name, value in _source_values(source):
            names.update(_REFERENCE.findall(value.written))
            values[f"{source.name} {name}"] = _without_password(value)
    for name in _CHOOSING:
        if env.get(name):
            names.add(name)
            values[name] = _address(env[name])
    if not foreseen:
        values.update(_spark_variables(adapter, env, project.root))
    if not values:
        return None
    salt = ledger_id if ledger_id is not None else project.config_hash.hex()
    return {"names": sorted(names), "hash": _hash_slowly(canonical_json(values), salt)}


@lru_cache(maxsize=4)
def _hash_slowly(said: str, salt: str) -> str:
    """The pipelines of one plan mostly have the same to say."""
    data = said.encode("utf-8", "surrogatepass")
    return hashlib.pbkdf2_hmac("sha256", data, salt.encode(), _ROUNDS).hex()


def _config_values(project: Project, adapter: Adapter) -> Iterator[tuple[str, str]]:
    """Every setting but secrets, and but those of adapters that are not used."""
    chosen = {name for name, each in project.config.adapter.items() if each is adapter}
    for path, value in _leaves(project.config, ()):
        other = path[0] == "adapter" and path[1] not in chosen
        secret = not _FREE.isdisjoint(path[:-1]) and is_secret_name(path[-1])
        if other or secret or path[0] in _BESIDE:
            continue
        yield ".".join(path), _address(value) if path[-1] == "remote" else _without_password(value)


def _source_values(source: SourceTable) -> Iterator[tuple[str, Substituted]]:
    if isinstance(source.path, Substituted):
        yield "path", source.path
    for name, value in source.options.items():
        if isinstance(value, Substituted) and not is_secret_name(name):
            yield name, value


def _spark_variables(adapter: Adapter, env: Mapping[str, str], root: Path) -> dict[str, str]:
    """What may change a result on a Spark that only Spark itself can tell of."""
    open_conf = {name: value for name, value in adapter.conf.items() if not is_secret_name(name)}
    return result_settings(adapter._replace(conf=open_conf), env, root)


def _leaves(value: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, Mapping):
        for key, each in value.items():
            yield from _leaves(each, (*path, str(key)))
    elif isinstance(value, tuple | list):
        for number, each in enumerate(value):
            yield from _leaves(each, (*path, str(number)))
    else:
        yield path, value


def _without_password(value: Any) -> str:
    """A value without a password that an address may hold."""
    return _IN_URL.sub(lambda found: found["user"] or found["key"] or "", str(value))


def _address(value: Any) -> str:
    """The address of a Spark: what follows a `;` may be a token."""
    return _without_password(value).partition(";")[0]

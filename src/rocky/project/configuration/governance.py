"""`[governance]`: where masks hold, who may do what in which catalogue, and the key of hashes.

The key is named here and never written: it comes from the environment. It stands in no file of the
project, and nothing that is kept of a run holds it: only a fingerprint, so that another key is
another table.
"""

import hmac
import re
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Annotated, Any, Final, Literal, NamedTuple

from rocky.project.configuration.governed_catalog import MASKING, GovernedCatalog
from rocky.project.configuration.paths import FolderName
from rocky.project.toml.documents import Problem, Problems, ReadBy
from rocky.project.toml.records import INVALID, reader_for, wrong_type
from rocky.project.toml.variables import Keys, Substituted, Unset, written

Level = Literal["write", "twin", "view", "catalog"]
"""`write`: a table is written masked, and no clear value reaches the warehouse. `twin`: the clear
table is in the restricted schema, and a masked one stands in its place. `view`: a masked view of
the catalogue does. `catalog`: tables are written clear, and a catalogue shows them masked to whom
it lets read them."""
_SCHEMA: Final = "{schema}"
"""What stands in `restricted_schema` for the schema that a table would be in."""
SHORTEST_KEY: Final = 16
_DEFAULT: Final = re.compile(r"\$\{[^}:]*:-[^}]")


def _read_key(value: Any, at: Keys, problems: Problems) -> Any:
    if isinstance(value, Unset):
        # It was reported; what needs the key is told from what has none.
        return value
    if not isinstance(value, str):
        return wrong_type("a reference such as `${MASK_KEY}`", value, at, problems)
    if not isinstance(value, Substituted) or _DEFAULT.search(value.written):
        message = "the key of hashes must not stand in a file of the project"
        problems.append(Problem(at, message, 'name a variable: `hash_key = "${MASK_KEY}"`'))
        return INVALID
    if value and len(value.encode()) < SHORTEST_KEY:
        message = f"the key of hashes is shorter than {SHORTEST_KEY} bytes, and could be guessed"
        problems.append(Problem(at, message, "make one with `openssl rand -hex 32`"))
        return INVALID
    return value


_NAMES: Final = reader_for(FolderName)


def _read_schema(value: Any, at: Keys, problems: Problems) -> Any:
    """The name of a schema, in which `{schema}` may stand for that of the open table."""
    if isinstance(value, str) and not isinstance(value, Unset):
        tried = value.replace(_SCHEMA, "schema")
        if "{" in tried or "}" in tried:
            message = f"`{written(value)}` cannot be a schema: only `{_SCHEMA}` is filled in"
            problems.append(Problem(at, message, f'as in `restricted_schema = "{_SCHEMA}_clear"`'))
            return INVALID
        read = _NAMES(tried, at, problems)
        return INVALID if read is INVALID else value
    return _NAMES(value, at, problems)


class EnvironmentGovernance(NamedTuple):
    """What is different in an environment."""

    enforce: Level | None = None


class Governance(NamedTuple):
    """Where masks hold (`enforce`), what hashes are made with, and what a catalogue is told.

    `restricted_schema` has the clear tables at the levels `twin` and `view`; in it, `{schema}` is
    the schema of the masked one. `env` says what is different with `--env`. `tags` are for all that
    is in the catalogue; `foreign` is what is done with what others said.
    """

    enforce: Level = "write"
    restricted_schema: Annotated[str | None, ReadBy(_read_schema)] = None
    env: Mapping[str, EnvironmentGovernance] = {}
    hash_key: Annotated[str | None, ReadBy(_read_key)] = None
    foreign: Literal["keep", "report", "remove"] = "report"
    tags: Mapping[str, str] = {}
    catalog: GovernedCatalog = GovernedCatalog()

    def level(self, env: str | None) -> Level:
        """Where masks hold in an environment."""
        said = self.env.get(env) if env is not None else None
        return self.enforce if said is None or said.enforce is None else said.enforce

    def restricted(self, schema: str) -> str | None:
        """The schema that has the clear table of one in a schema; None where none is set."""
        named = self.restricted_schema
        return None if named is None else named.replace(_SCHEMA, schema)

    @property
    def key_fingerprint(self) -> str | None:
        """What tells one key from another and says nothing else of it; None without a key."""
        if not self.hash_key or isinstance(self.hash_key, Unset):
            return None
        return hmac.new(self.hash_key.encode(), b"rocky mask key", sha256).hexdigest()[:16]

    def __repr__(self) -> str:
        """As any record, but for the key."""
        shown = self._replace(hash_key=None if self.hash_key is None else "***")
        fields = zip(self._fields, shown, strict=True)
        return f"Governance({', '.join(f'{name}={value!r}' for name, value in fields)})"


NO_GOVERNANCE: Final = Governance()


def find_level_problems(settings: Governance) -> Iterator[Problem]:
    """A level that keeps clear tables, without a place for them."""
    said: list[tuple[Keys, Level]] = [(("governance", "enforce"), settings.enforce)]
    said += [
        (("governance", "env", name, "enforce"), each.enforce)
        for name, each in settings.env.items()
        if each.enforce is not None
    ]
    for keys, level in said:
        if level == "catalog":
            yield from _find_unable(settings.catalog, keys)
    kept = [(keys, level) for keys, level in said if level in ("twin", "view")]
    if settings.restricted_schema is None:
        for keys, level in kept[:1]:
            yield Problem(
                keys,
                f"`{level}` keeps clear tables, and it is not said where",
                'name a schema in `[governance]`: `restricted_schema = "restricted"`',
            )


def _find_unable(catalog: GovernedCatalog, at: Keys) -> Iterator[Problem]:
    """Why a catalogue cannot mask: known before anything runs."""
    if catalog.kind not in MASKING:
        kind = catalog.kind
        said = "there is no `[governance.catalog]`" if kind == "none" else f"`{kind}` has none"
        message = f"`catalog` needs a catalogue with column masks of its own: {said}"
        help_text = '`kind = "databricks"` and "ranger" have them; `enforce = "write"` needs none'
        yield Problem(at, message, help_text)
    elif catalog.kind == "databricks" and catalog.warehouse_id is None:
        message = (
            "`catalog` sets masks by SQL, which needs `warehouse_id` in `[governance.catalog]`"
        )
        yield Problem(at, message)

"""`[governance]`: where masks hold, who may do what in which catalogue, and the key of hashes.

The key is named here and never written: it comes from the environment. It stands in no file of the
project, and nothing that is kept of a run holds it: only a fingerprint, so that another key is
another table.
"""

import hmac
import re
from collections.abc import Mapping
from hashlib import sha256
from typing import Annotated, Any, Final, Literal, NamedTuple

from rocky.project.configuration.governed_catalog import GovernedCatalog
from rocky.project.toml.documents import Problem, Problems, ReadBy, Refusal, refuses
from rocky.project.toml.records import INVALID, reader_for, wrong_type
from rocky.project.toml.variables import Keys, Substituted, Unset

Level = Literal["write"]
"""`write`: a table is written masked, and no clear value reaches the warehouse."""
_LATER: Final = {
    "twin": "no masked table would stand beside the clear one",
    "view": "no masked view would be made of the clear table",
    "catalog": "no catalogue is asked for column masks of its own",
}
SHORTEST_KEY: Final = 16
_DEFAULT: Final = re.compile(r"\$\{[^}:]*:-[^}]")


def _read_key(value: Any, at: Keys, problems: Problems) -> Any:
    if isinstance(value, Unset):
        return INVALID
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


_LEVELS: Final = reader_for(Level)


def _read_level(value: Any, at: Keys, problems: Problems) -> Any:
    if value in _LATER:
        message = f"`{value}` is not supported yet: {_LATER[value]}"
        problems.append(Problem(at, message, 'use `enforce = "write"`: no clear value is written'))
        return INVALID
    return _LEVELS(value, at, problems)


@refuses(
    restricted_schema=Refusal(
        "no clear table is kept beside the masked one", "remove it", later=True
    ),
)
class Governance(NamedTuple):
    """Where masks hold (`enforce`), what hashes are made with, and what a catalogue is told.

    `tags` are for all that is in the catalogue; `foreign` is what is done with what others said.
    """

    enforce: Annotated[Level, ReadBy(_read_level)] = "write"
    hash_key: Annotated[str | None, ReadBy(_read_key)] = None
    foreign: Literal["keep", "report", "remove"] = "report"
    tags: Mapping[str, str] = {}
    catalog: GovernedCatalog = GovernedCatalog()

    @property
    def key_fingerprint(self) -> str | None:
        """What tells one key from another and says nothing else of it; None without a key."""
        if not self.hash_key:
            return None
        return hmac.new(self.hash_key.encode(), b"rocky mask key", sha256).hexdigest()[:16]

    def __repr__(self) -> str:
        """As any record, but for the key."""
        shown = self._replace(hash_key=None if self.hash_key is None else "***")
        fields = zip(self._fields, shown, strict=True)
        return f"Governance({', '.join(f'{name}={value!r}' for name, value in fields)})"


NO_GOVERNANCE: Final = Governance()

"""`[governance.catalog]`: which catalogue is told who may do what, and how it is reached.

The token stands in the environment: what is in `rocky.toml` is in git.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final, Literal, NamedTuple

from rocky.project.configuration.grants import Grant, Role, find_grant_problems
from rocky.project.toml.documents import NonNegative, Positive, Problem, Refusal, refuses
from rocky.project.toml.variables import Keys, Unset, written

CatalogKind = Literal["unity", "databricks", "ranger", "none"]
MASKING: Final = ("databricks", "ranger")
"""The kinds that have column masks and row filters of their own."""

_REFERENCE: Final = re.compile(r"\$\{[A-Za-z_][A-Za-z0-9_]*\}")
_TOKEN: Final = re.compile(r"[!-~]+(?: [!-~]+)*")
_ADDRESS: Final = re.compile(r"https?://[^\s/@?#]+(?::\d+)?(?:/[^\s?#@]*)?")
_NEEDS: Final[Mapping[str, tuple[str, ...]]] = {
    "unity": ("url",),
    "databricks": ("url", "token"),
    "ranger": ("url", "user", "token", "service"),
    "none": (),
}
_TAKES: Final[Mapping[str, tuple[str, ...]]] = {
    "unity": ("url", "token", "register"),
    "databricks": ("url", "token", "warehouse_id"),
    "ranger": ("url", "user", "token", "service"),
    "none": (),
}


class GovernedCatalog(NamedTuple):
    """A catalogue and how it is reached.

    `token` is sent to it and shown nowhere; Ranger takes it as the password of `user`, and keeps
    its policies under a `service`. `warehouse_id` is what runs Databricks' SQL. With `register`
    tables are made known to the open Unity Catalog when they are written.
    """

    kind: CatalogKind = "none"
    url: str | None = None
    token: str | None = None
    user: str | None = None
    service: str | None = None
    warehouse_id: str | None = None
    timeout_seconds: Positive = 30
    retries: NonNegative = 3
    register: bool = False

    def __repr__(self) -> str:
        """Without values: an address may hold a secret, and a token is one."""
        return f"GovernedCatalog({self.kind})"


@refuses(
    isolation=Refusal("it is said by two keys here", "write `isolated` and `workspaces`"),
    grants=Refusal("grants are said for all tables in one place", "write `[[grant]]`"),
    schema_grants=Refusal("grants are said for all tables in one place", "write `[[grant]]`"),
    auto_create_catalogs=Refusal("no catalog is made in a catalogue", "make it there"),
    auto_create_schemas=Refusal("missing schemas of the warehouse are created", "remove it"),
)
class TargetGovernance(NamedTuple):
    """What a pipeline says of its tables on Databricks.

    `tags` go before those of `[governance.tags]`. With `component_tags` a copied table has the
    components in its name as tags, each named with `tag_prefix` before it. Catalogs of a pipeline
    that is `isolated` are reached from `workspaces` only.
    """

    tags: Mapping[str, str] = {}
    component_tags: bool = False
    tag_prefix: str = ""
    isolated: bool = False
    workspaces: tuple[Positive, ...] = ()


def find_target_problems(
    target: TargetGovernance, catalog: GovernedCatalog, at: Keys, *, copies: bool
) -> Iterator[Problem]:
    """What is wrong with `[pipeline.NAME.target.governance]`; `at` is the pipeline's place.

    `copies` says whether it is one that copies tables, whose names have components.
    """
    at = (*at, "target", "governance")
    if target != TargetGovernance() and catalog.kind != "databricks":
        message = "this has no effect: only Databricks keeps tags, isolation and workspaces"
        yield Problem(at, message, "remove it")
    elif (target.tags or target.component_tags) and catalog.warehouse_id is None:
        yield Problem((*at, "tags"), "tags are set by SQL, which needs `warehouse_id`")
    if target.component_tags and not copies:
        message = "`component_tags` has no effect: only tables that are copied have components"
        yield Problem((*at, "component_tags"), message, "remove it", on_key=True)
    if target.tag_prefix and not target.component_tags:
        message = "`tag_prefix` has no effect: it is for the tags of components"
        yield Problem((*at, "tag_prefix"), message, "write `component_tags = true`", on_key=True)
    if target.workspaces and not target.isolated:
        message = "`workspaces` has no effect: a catalog that is not isolated is reached from all"
        yield Problem((*at, "workspaces"), message, "write `isolated = true`", on_key=True)
    if target.isolated and not target.workspaces:
        message = "nobody could reach an isolated catalog without `workspaces`"
        yield Problem((*at, "isolated"), message, "list the numbers of workspaces")


def find_governance_problems(
    roles: Mapping[str, Role],
    grants: tuple[Grant, ...],
    catalog: GovernedCatalog,
    tags: Mapping[str, str],
) -> Iterator[Problem]:
    """What is wrong with roles, grants and their catalogue, each at its line."""
    yield from find_grant_problems(roles, grants)
    if grants and catalog.kind == "none":
        message = "`[[grant]]` has no effect: no catalogue is told of it"
        help_text = 'write `[governance.catalog]` with `kind = "unity"`, "databricks" or "ranger"'
        yield Problem(("grant", 0), message, help_text)
    at = ("governance", "catalog")
    for key in ("url", "token", "user", "service", "warehouse_id", "register"):
        given = getattr(catalog, key) not in (None, False)
        if given and key not in _TAKES[catalog.kind]:
            message = f'`{key}` has no effect with `kind = "{catalog.kind}"`'
            yield Problem((*at, key), message, "remove it", on_key=True)
        if not given and key in _NEEDS[catalog.kind]:
            yield Problem(at, f'`kind = "{catalog.kind}"` needs `{key}`')
    url, token = catalog.url, catalog.token
    if url is not None and not isinstance(url, Unset) and not _ADDRESS.fullmatch(url):
        message = "`url` is not an address of the form `https://host`"
        yield Problem((*at, "url"), message, "a user or a token do not belong into it")
    if token is not None and not isinstance(token, Unset):
        if not _REFERENCE.fullmatch(written(token)):
            message = "`token` is a secret, and this file is in git"
            yield Problem((*at, "token"), message, 'write `token = "${NAME}"`')
        elif not token:
            yield Problem((*at, "token"), "`token` is empty")
        elif not _TOKEN.fullmatch(token):
            message = "the value of `token` has characters that no token has, such as a line's end"
            yield Problem((*at, "token"), message)
    if tags and catalog.kind != "databricks":
        message = "`[governance.tags]` has no effect: only Databricks keeps tags"
        yield Problem(("governance", "tags"), message, "remove it", on_key=True)
    if tags and catalog.kind == "databricks" and catalog.warehouse_id is None:
        yield Problem(at, "tags are set by SQL, which needs `warehouse_id`")

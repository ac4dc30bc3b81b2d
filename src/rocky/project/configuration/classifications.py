"""Classifications: which tags columns may have, in which order, and what is allowed of each.

`[classification]` of a model, a folder's defaults, a group, a source or a seed says which columns
have which tags: a column's name, a field of one (`address.street`) or `*` for every column; one tag
or a list of them. `[classifications]` of `rocky.toml` declares the tags. From a folder to its
models tags are only added: what is said outside holds inside, whatever is said there.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Annotated, Any, Final, Literal, NamedTuple

from rocky.diagnostics.suggestion import suggestion
from rocky.project.configuration.masks import StrategyText
from rocky.project.toml.documents import NonNegative, Problem, Problems, ReadBy
from rocky.project.toml.records import INVALID, reader_for, wrong_type
from rocky.project.toml.variables import Keys, written

EVERY_COLUMN: Final = "*"
_TAG: Final = re.compile(r"[A-Za-z_][\w.:-]*")
_ONE_OR_MORE: Final = 'a tag such as `"pii"` or a list such as `["pii", "gdpr"]`'


def _read_tags(value: Any, at: Keys, problems: Problems) -> Any:
    if isinstance(value, str):
        value = [value]
    elif not isinstance(value, list):
        return wrong_type(_ONE_OR_MORE, value, at, problems)
    read = reader_for(tuple[str, ...])(value, at, problems)
    if read is INVALID:
        return INVALID
    # As it is written: a tag is recorded and shown, and is no place for what a variable holds.
    tags = tuple(dict.fromkeys(str(written(tag)) for tag in read))
    for tag in tags:
        if not _TAG.fullmatch(tag):
            said = f"`{tag}` is no name of a tag"
            problems.append(Problem(at, said, "use letters, digits, `_`, `-`, `.` and `:`"))
            return INVALID
    if not tags:
        problems.append(Problem(at, "a column that is listed needs a tag", "name one"))
        return INVALID
    return tags


TagNames = Annotated[tuple[str, ...], ReadBy(_read_tags)]
"""One tag or a list of them; read as a tuple without repetition."""

ColumnTags = Mapping[str, TagNames]
"""Tags by column, by field (`address.street`) or for all columns (`*`), as names are written."""

NO_COLUMN_TAGS: Final[Mapping[str, tuple[str, ...]]] = {}


def merge_tags(
    outer: Mapping[str, tuple[str, ...]], inner: Mapping[str, tuple[str, ...]]
) -> Mapping[str, tuple[str, ...]]:
    """The tags of both, column by column, names compared without case: none is taken away."""
    if not outer or not inner:
        return outer or inner
    merged = dict(inner)
    names = {name.lower(): name for name in inner}
    for name, tags in outer.items():
        own = names.get(name.lower(), name)
        merged[own] = tuple(dict.fromkeys((*merged.get(own, ()), *tags)))
    return merged


def find_lowered(
    outer: Mapping[str, tuple[str, ...]],
    inner: Mapping[str, tuple[str, ...]],
    order: tuple[str, ...],
    taken_off: Collection[tuple[str, str]] = (),
) -> Iterator[Problem]:
    """Names that are given only tags below one that they have from outside: it stays all the same.

    `order` has the highest tag first; of tags that it does not name nobody knows which is higher.
    `taken_off` are lower-case names with the tags that are declassified.
    """
    ranks = {tag: rank for rank, tag in enumerate(order)}
    above = {name.lower(): tags for name, tags in outer.items()}
    for name, tags in inner.items() if above and ranks else ():
        key = name.lower()
        held = [*above.get(key, ()), *above.get(key.partition(".")[0], ())]
        held += above.get(EVERY_COLUMN, ())
        lowest = min((ranks.get(tag, -1) for tag in tags), default=-1)
        for tag in dict.fromkeys(held):
            if ranks.get(tag, len(order)) < lowest and (key, tag) not in taken_off:
                yield Problem(
                    ("classification", name),
                    f"`{name}` has the tag `{tag}` by what is said of the folder or the group, and"
                    f" {_listed(tags)} does not lower it",
                    f"name `{tag}` too, or let a model take it off in the open: `[[declassify]]`",
                )
                break


def _listed(tags: Iterable[str]) -> str:
    return ", ".join(f"`{each}`" for each in tags)


def is_classified(tags: Mapping[str, tuple[str, ...]], column: str) -> bool:
    """Whether a column has a tag, or a field of it does."""
    key = column.lower()
    return any(
        name == EVERY_COLUMN or name.lower() == key or name.lower().startswith(f"{key}.")
        for name in tags
    )


def join_tags(tags: tuple[str, ...]) -> str:
    """Several tags as one text, which is how reports, interfaces and pages have them."""
    return ", ".join(tags)


def joined_tags(tags: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """Tags by column, each as one text."""
    return {name: join_tags(each) for name, each in tags.items()}


class TagAllowance(NamedTuple):
    """Where columns with a tag may be: in models of these schemas, tags or names.

    A schema is written `schema` or `catalog.schema`.
    """

    schemas: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    models: tuple[str, ...] = ()


class ClassificationTag(NamedTuple):
    """A declared tag. Without `allow` columns with it may be anywhere.

    `mask` is the strategy for the tag where `[mask]` names none. `clear_for` are the roles whose
    members are shown its values, `*` for everybody.
    """

    owner: str | None = None
    description: str | None = None
    mask: StrategyText | None = None
    allow: TagAllowance | None = None
    clear_for: tuple[str, ...] = ()


class ClassificationSettings(NamedTuple):
    """What is said of all tags. `order` has the highest tag first; what it leaves out comes after.

    `influence` says whether a column gets the tags of what its rows are filtered, joined, grouped
    or ordered by ("inherit"), or these are only shown. A tag that nothing masks is a warning, an
    error if `strict`, and nothing if `allow_unmasked` has it. A tag that ends in groups which may
    have fewer rows than `small_groups` is a warning; 0 asks for none. Where `tags` declares any, no
    other is known.
    """

    order: tuple[str, ...] = ()
    influence: Literal["show", "inherit"] = "show"
    allow_unmasked: tuple[str, ...] = ()
    strict: bool = False
    small_groups: NonNegative = 5
    tags: Mapping[str, ClassificationTag] = {}

    def rank(self, tag: str) -> int:
        """The place of a tag in the order, 0 for the highest; those it leaves out share the end."""
        return self.order.index(tag) if tag in self.order else len(self.order)


class Declassification(NamedTuple):
    """A column that no longer has a tag that its values came with: who says so, and why.

    `column` may be a field, as `address.street`.
    """

    column: str
    tag: str
    reason: str
    approved_by: str


def check_classifications(
    settings: ClassificationSettings, published: tuple[str, ...], problems: Problems
) -> None:
    """Report tags that `[classifications]` or `[publish]` names twice, or that nobody declares."""
    for block, key, names in (
        ("classifications", "order", settings.order),
        ("classifications", "allow_unmasked", settings.allow_unmasked),
        ("publish", "allow_tags", published),
    ):
        for index, tag in enumerate(names):
            at = (block, key, index)
            if tag in names[:index]:
                problems.append(Problem(at, f"`{key}` names the tag `{written(tag)}` twice"))
            elif settings.tags and tag not in settings.tags:
                said = f"no tag `{written(tag)}` is declared"
                hint = (
                    suggestion(tag, settings.tags) or f"declare it: `[classifications.tags.{tag}]`"
                )
                problems.append(Problem(at, said, hint))


NO_CLASSIFICATIONS: Final = ClassificationSettings()

"""The endpoints that a page begins with, its index and the details of tables, and the names of all.

They are apart because all the others load every operation there is, and a page should be seen
before.
"""

from typing import Final

from rocky.errors import NothingSelected
from rocky.operations.page.records import PageIndex, PagePart
from rocky.protocol.endpoint import Arguments, Endpoint, Parameter
from rocky.protocol.memory import Memory


def _project(memory: Memory, _: Arguments) -> PageIndex:
    return memory.page().index


def _details(memory: Memory, given: Arguments) -> PagePart:
    page = memory.page()
    if given["part"] >= page.index.parts:
        raise NothingSelected(f"there is no part {given['part']}: the project has changed")
    return page.part(given["part"])


FIRST: Final = (
    Endpoint("project", "All tables, runs and findings in short.", (PageIndex,), _project),
    Endpoint(
        "details",
        "All that is shown of the tables of one part.",
        (PagePart,),
        _details,
        (Parameter("part", "the number of the part, as `project` has it", int, required=True),),
    ),
)
_OTHERS: Final = (
    "overlay", "compile", "list", "catalog", "dag", "lineage", "path", "suppose", "history", "run",
    "trace", "cost", "diff", "why", "check_sql", "branches", "branch", "approvals", "compliance",
    "readers", "counts",
)  # fmt: skip
_OF_ONE_PERSON: Final = ("logs", "record", "verify", "plan", "rows", "files", "state")
"""They show values, or read whole tables. A test holds both equal to the endpoints themselves."""


def names_of(*, local: bool) -> tuple[str, ...]:
    """What can be asked of a server that is `local`, or for others."""
    first = tuple(each.name for each in FIRST)
    return (*first, *_OTHERS, *(_OF_ONE_PERSON if local else ()))

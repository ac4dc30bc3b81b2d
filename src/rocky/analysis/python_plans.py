"""Plans of Python models: the SQL that a model's code builds, as values, and who is asked for them.

Whoever runs the code stands above: a compile is handed the plans that there are, and knows no
PySpark. A plan is written down without places of a machine, so that it holds wherever the same
files lie.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Final, Literal, NamedTuple, Protocol

from msgspec.msgpack import Decoder

from rocky.analysis.compilation import Record
from rocky.diagnostics.diagnostic import Span
from rocky.language.datatypes.text import decode_type
from rocky.language.datatypes.types import UNKNOWN, StructField
from rocky.language.declared_functions import DeclaredFunction, FunctionParameter
from rocky.language.tables import Table, Tables
from rocky.project import ModelFile, Project
from rocky.project.cache import pack
from rocky.project.call_places import Site

PlanUse = Literal["off", "kept", "built"]
"""Which plans a compile has: none, those of earlier compiles, or one for every model."""

_MOST_ARGUMENTS: Final = 256
ANY_ARGUMENTS: Final = tuple(
    FunctionParameter(f"a{at}", UNKNOWN, optional=True) for at in range(_MOST_ARGUMENTS)
)
"""The parameters of code that a plan calls: what it is given, PySpark has checked."""


class PlanFunction(NamedTuple):
    """Code that a plan calls, under the name it has in the plan's SQL. Types are texts."""

    key: str
    name: str
    returns: str | None
    columns: list[tuple[str, str, bool]] | None
    aggregate: bool
    deterministic: bool | None
    digest: bytes

    @property
    def declared(self) -> DeclaredFunction:
        columns = self.columns
        return DeclaredFunction(
            self.name,
            "python",
            ANY_ARGUMENTS,
            decode_type(self.returns) if self.returns is not None else None,
            tuple(StructField(name, decode_type(kind), null) for name, kind, null in columns)
            if columns is not None
            else None,
            deterministic=self.deterministic,
            aggregate=self.aggregate,
            digest=self.digest,
        )


class PlanNote(NamedTuple):
    """Something that is to be said, and where; paths are the project's."""

    text: str
    path: str | None = None
    span: tuple[int, int] | None = None


class PlanFinding(NamedTuple):
    """A mistake that shows before there is SQL."""

    code: str
    message: str
    path: str | None
    span: tuple[int, int] | None
    condition: str | None
    help: str | None


class PlanColumn(NamedTuple):
    """A column of a frame.

    `input` and `at` are the place it has in a frame below, -1 for one that is made here; where its
    name and its type are empty they are those of that one.
    """

    name: str
    type: str
    nullable: bool
    input: int = -1
    at: int = -1
    hidden: bool = False


class PlanFrame(NamedTuple):
    """A frame of a plan under its `name` in the SQL: a table, or what a call gives.

    `calls` are which of the plan's sites give it, `inputs` which of the plan's frames it is made
    of. It begins with the first `kept` columns of the first of these, as they are; then come its
    own `columns`.
    """

    name: str
    calls: list[int]
    inputs: list[int]
    columns: list[PlanColumn]
    kept: int = 0


class PythonPlan(NamedTuple):
    """What building a model's frame gave.

    Either `failure` (the code raised) or `needs_rows` (it looks at rows) says why there is no
    `sql`. `starts` are where its pieces begin, `places` which of the `sites` each stands for, -1
    for none. `gaps` are what has no SQL. `doubt` is why more than the code and the schemas may have
    had a say; a plan that is `passing` is not to be kept. `frames` are for editors, inputs first.
    `unknown` are the names in the SQL of frames of which no column is known.
    """

    sql: str = ""
    starts: list[int] = []  # noqa: RUF012 - never changed, and told to msgspec
    places: list[int] = []  # noqa: RUF012 - as above
    sites: list[tuple[str, int, int, int, int]] = []  # noqa: RUF012 - as above
    functions: list[PlanFunction] = []  # noqa: RUF012 - as above
    findings: list[PlanFinding] = []  # noqa: RUF012 - as above
    gaps: list[PlanNote] = []  # noqa: RUF012 - as above
    needs_rows: PlanNote | None = None
    failure: PlanNote | None = None
    doubt: str | None = None
    passing: bool = False
    frames: list[PlanFrame] = []  # noqa: RUF012 - as above
    unknown: list[str] = []  # noqa: RUF012 - as above

    @property
    def has_sql(self) -> bool:
        return self.failure is None and self.needs_rows is None

    @property
    def has_frames(self) -> bool:
        """Whether there are frames, each made of those before it: who follows them comes to an end.

        A plan comes from a process that ran an author's code, which could have written another.
        """
        below = ((at, each) for at, frame in enumerate(self.frames) for each in frame.inputs)
        return bool(self.frames) and all(0 <= each < at for at, each in below)

    def site(self, span: Span | None) -> Site | None:
        """The site of the first piece in the span that has one, else of the nearest before it."""
        if not self.starts:
            return None
        start, end = (0, len(self.sql)) if span is None else span
        at = max(bisect_right(self.starts, start) - 1, 0)
        for index in range(at, len(self.starts)):
            if index > at and self.starts[index] >= max(end, start + 1):
                break
            if self.places[index] >= 0:
                return Site(*self.sites[self.places[index]])
        before = next((each for each in reversed(self.places[:at]) if each >= 0), -1)
        return Site(*self.sites[before]) if before >= 0 else None


_PLAN: Final = Decoder(PythonPlan)


def pack_plan(plan: PythonPlan) -> bytes:
    return pack(tuple(plan))


def unpack_plan(data: bytes) -> PythonPlan:
    """Raises msgspec's DecodeError for bytes that are no plan."""
    return _PLAN.decode(data)


# What a record says of the plan of its model, in one byte before the plan itself.
PLANNED: Final = b"1"
UNPLANNED: Final = b"2"
PASSING: Final = b"3"


def kept_plan(state: bytes) -> PythonPlan | None:
    """The plan that a record was bound from; None for one without, and for SQL."""
    return unpack_plan(state[1:]) if len(state) > 1 else None


def plan_holds(state: bytes, use: PlanUse) -> bool:
    """Whether a record was made from as much of a plan as there can be now."""
    if not state:
        return True
    mark = state[:1]
    if use == "off":
        return mark == UNPLANNED
    return mark == PLANNED or use == "kept"


def lacks_plan(record: Record) -> bool:
    """Whether nothing is known of what a model gives because its code was not run."""
    return record.plan[:1] == UNPLANNED and not record.columns


class PlanRequest(NamedTuple):
    """A model whose plan is wanted, over tables of these columns, by the names it writes.

    `functions` are those of the project that it may call.
    """

    model: ModelFile
    tables: Mapping[str, Sequence[StructField]]
    functions: Sequence[DeclaredFunction] = ()


INSTALL_CONNECT: Final = "run `pip install 'rocky-spark[connect]'`"
"""How a hindrance ends that is a missing library."""


class Plans(Protocol):
    """Where plans come from."""

    @property
    def use(self) -> PlanUse:
        """What can be expected of `find`."""

    @property
    def hindrance(self) -> str | None:
        """Why no plan can be built here, if that is so; known once one was asked for."""

    def prepare(self, requests: Sequence[PlanRequest]) -> None:
        """Make plans ready that will be asked for, many at once."""

    def find(self, request: PlanRequest) -> PythonPlan | None:
        """The plan of a model; None where there is none."""


class NoPlans:
    """No plan of any model: what is declared is believed."""

    use: PlanUse = "off"
    hindrance: str | None = None

    def prepare(self, requests: Sequence[PlanRequest]) -> None:
        pass

    def find(self, request: PlanRequest) -> PythonPlan | None:  # noqa: ARG002 - of the protocol
        return None


NO_PLANS: Final = NoPlans()


def no_plans(project: Project) -> Plans:  # noqa: ARG001 - as others, of a project
    """What is declared of its Python models is believed."""
    return NO_PLANS


class GivenPlans:
    """Plans that somebody else asked for, by the keys of their models."""

    def __init__(
        self, use: PlanUse, hindrance: str | None, plans: Mapping[str, PythonPlan]
    ) -> None:
        self.use = use
        self.hindrance = hindrance
        self._plans = plans

    def prepare(self, requests: Sequence[PlanRequest]) -> None:
        pass

    def find(self, request: PlanRequest) -> PythonPlan | None:
        return self._plans.get(request.model.key)


class PlanTables:
    """The tables that the SQL of a plan reads, with the code that it calls as functions.

    A frame of unknown columns is a table of unknown columns.
    """

    def __init__(self, tables: Tables, plan: PythonPlan) -> None:
        self._tables = tables
        self._plan = plan

    @cached_property
    def own(self) -> dict[str, DeclaredFunction]:
        """What is no function of the project, by key."""
        return {each.key: each.declared for each in self._plan.functions}

    def find(self, parts: tuple[str, ...]) -> Table | None:
        if len(parts) == 1 and parts[0] in self._plan.unknown:
            return Table(parts[0], (), parts, known=False)
        return self._tables.find(parts)

    def undeclared(self, parts: tuple[str, ...]) -> Table | None:
        return self._tables.undeclared(parts)

    def function(self, parts: tuple[str, ...]) -> DeclaredFunction | None:
        own = self.own.get(parts[0]) if len(parts) == 1 else None
        return own or self._tables.function(parts)

    def function_names(self) -> Iterable[str]:
        return self._tables.function_names()

    @property
    def declares_functions(self) -> bool:
        return bool(self._plan.functions) or self._tables.declares_functions

    def names(self) -> Iterable[str]:
        return self._tables.names()

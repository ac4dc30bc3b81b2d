"""The plans of a project's Python models: kept ones, and new ones where code may be run.

A plan is kept in the user's cache under a fingerprint of everything it was built from: the code of
the model and of all modules of the project that it imports, the versions of what is installed, the
columns of what it reads, and this compiler. Of each model a few are kept, so that the plans of
another branch, or of the code before an edit, are still there.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from blake3 import blake3
from msgspec import DecodeError
from msgspec.msgpack import Decoder

from rocky.analysis.python_plans import PlanRequest, PlanUse, PythonPlan, pack_plan, unpack_plan
from rocky.canonical import ascii_json
from rocky.frames.plan_process import CannotBuild, PlanProcess
from rocky.frames.plan_targets import (
    SentModules,
    encode_function,
    encode_schemas,
    encode_target,
)
from rocky.project.cache import cache_stamp, load_values, save_values
from rocky.project.python_imports import distribution_version
from rocky.project.python_models import content_hash

PLANS: Final = "plans.bin"
_KEPT_EACH: Final = 6
_WITH_FRAMES: Final = b"frames"
_KEPT: Final = Decoder(dict[str, list[tuple[bytes, bytes]]])


class ProjectPlans:
    """The plans of the project at `root`; where `builds`, those that are not kept are built.

    `place` is the project under whose name they are kept, None to keep none. Closing it ends the
    process that builds, and writes down what it built. `meanwhile` is called while a plan is waited
    for. With `frames`, plans say what each call gives: an editor asks that, and no compile shall
    pay for it.
    """

    def __init__(
        self,
        root: Path,
        *,
        builds: bool,
        place: Path | None,
        seconds: float,
        jobs: int = 1,
        meanwhile: Callable[[], None] | None = None,
        frames: bool = False,
    ) -> None:
        self.use: PlanUse = "built" if builds else "kept"
        self.hindrance: str | None = None
        self._root = Path(root).resolve()
        self._place = place
        self._stamp = cache_stamp() if place is not None else b""
        self._limits = seconds, jobs, meanwhile
        self._frames = frames
        self._process: PlanProcess | None = None
        self._kept: dict[str, list[tuple[bytes, bytes]]] | None = None
        self._known: dict[bytes, PythonPlan | bytes] = {}
        self._fresh: dict[str, list[tuple[bytes, bytes]]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        self.close()

    def prepare(self, requests: Sequence[PlanRequest]) -> None:
        """Have the plans of some models ready, building those that are nowhere."""
        marked = [(fingerprint(each), each) for each in requests]
        self._build([each for each in marked if self._fit(each[0]) is None])

    def find(self, request: PlanRequest) -> PythonPlan | None:
        mark = fingerprint(request)
        found = self._fit(mark)
        if found is None:
            self._build([(mark, request)])
            found = self._fit(mark)
        # Where nothing is built, a plan that says less is better than none.
        return found or self._recalled(mark)

    def _fit(self, mark: bytes) -> PythonPlan | None:
        """A plan that says all that is asked for."""
        plain = None if self._frames else self._recalled(mark)
        return plain or self._recalled(mark + _WITH_FRAMES)

    def close(self) -> None:
        if self._process is not None:
            self._process.close()
            self._process = None
        self.save()

    def save(self) -> None:
        """Write down what was built since."""
        if self._fresh and self._place is not None:
            kept = self._load()
            for key, plans in self._fresh.items():
                newer = {each for each, _ in plans}
                older = [each for each in kept.get(key, ()) if each[0] not in newer]
                kept[key] = [*plans, *older][:_KEPT_EACH]
            save_values(self._place, PLANS, self._stamp, kept)
        self._fresh = {}

    def _build(self, requests: Sequence[tuple[bytes, PlanRequest]]) -> None:
        """Build plans, where that is done at all."""
        if self.use != "built" or self.hindrance is not None or not requests:
            return
        wanted = {each.model.key: (mark, each) for mark, each in requests}
        self._process = self._process or PlanProcess(*self._limits)
        modules = SentModules()
        targets = [
            {**encode_target(each, self._root, modules), "frames": self._frames}
            for _, each in wanted.values()
        ]
        try:
            for key, plan in self._process.build(targets, modules):
                mark, request = wanted[key]
                mark += _WITH_FRAMES if self._frames else b""
                self._known[mark] = plan
                if not plan.passing and request.model.imports.doubt is None:
                    self._fresh.setdefault(key, []).insert(0, (mark, pack_plan(plan)))
        except CannotBuild as failure:
            self.hindrance = str(failure)
            self._process.close()
            self._process = None

    def _recalled(self, mark: bytes) -> PythonPlan | None:
        if mark not in self._known and self._place is not None and self._kept is None:
            self._kept = self._load()
            for plans in self._kept.values():
                for each, data in plans:
                    self._known.setdefault(each, data)
        found = self._known.get(mark)
        if isinstance(found, bytes):
            try:
                found = self._known[mark] = unpack_plan(found)
            except DecodeError:
                # What this user wrote with this compiler is a plan; in doubt it is built again.
                del self._known[mark]
                return None
        return found

    def _load(self) -> dict[str, list[tuple[bytes, bytes]]]:
        assert self._place is not None
        return load_values(self._place, PLANS, self._stamp, _KEPT)


def fingerprint(request: PlanRequest) -> bytes:
    """Everything that a plan is built from."""
    model = request.model
    said = ascii_json(
        [
            model.path,
            model.imports.outside,
            distribution_version("pyspark"),
            encode_schemas(request.tables),
            [encode_function(each) for each in request.functions],
        ]
    )
    return blake3(content_hash(model) + said.encode("utf-8", "surrogatepass")).digest()

"""What every test shares: the `--bless` switch, Hypothesis profiles and where files are written.

Goldens hold wording and shape; `pytest --bless` rewrites them, and the diff is what
gets reviewed. A test that blesses must still assert when it does not.
"""

import gc
import os
import re
import resource
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, settings

# A shared machine is slow at random: a deadline would fail the machine, not the code. The same
# examples each time, so that a red build is red again when someone looks.
settings.register_profile(
    "house", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("house")


MEMORY = Path("/dev/shm")
ROOM = 4 << 30
"""Bytes that must be free in memory; all tests together write less than half of it."""


def pytest_configure(config: pytest.Config) -> None:
    """Let tests write to memory, where a flush costs nothing and nobody else makes it wait."""
    if config.option.basetemp or "PYTEST_DEBUG_TEMPROOT" in os.environ or not MEMORY.is_dir():
        return
    space = os.statvfs(MEMORY)
    usable = os.access(MEMORY, os.W_OK) and not space.f_flag & (os.ST_RDONLY | os.ST_NOEXEC)
    if usable and space.f_bavail * space.f_frsize >= ROOM:
        os.environ["PYTEST_DEBUG_TEMPROOT"] = str(MEMORY)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--bless", action="store_true", help="rewrite expected files from what is")
    parser.addoption(
        "--sample",
        type=int,
        metavar="SEED",
        help="of tests marked `sampled` take a third of the cases, chosen by SEED; of properties a third of the examples",
    )

    parser.addoption(
        "--dearest",
        type=int,
        metavar="N",
        help="in the end, print the N tests that took most CPU time, with the processes that they began",
    )


_SPENT = pytest.StashKey[float]()
TICKS = os.sysconf("SC_CLK_TCK")


def _cpu() -> float:
    """CPU seconds of this process and of those below it: ended ones, and a Spark or a server that goes on."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + ended.ru_utime + ended.ru_stime + _cpu_below(os.getpid())


def _cpu_below(process: int) -> float:
    """CPU seconds of the processes that one has begun and that still run, where Linux tells of them."""
    spent = 0.0
    for task in Path(f"/proc/{process}/task").glob("*/children"):
        with suppress(OSError):
            for child in task.read_text().split():
                # Behind the name, which may hold anything: of its own time and of those it has waited for.
                said = Path(f"/proc/{child}/stat").read_text().rpartition(") ")[2].split()
                spent += sum(map(int, said[11:15])) / TICKS + _cpu_below(int(child))
    return spent


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[pytest.TestReport]:
    """Wall time tells of a shared machine, so reports have the CPU seconds since the one before."""
    report = yield
    if item.config.getoption("--dearest"):
        now = _cpu()
        report.cpu = now - item.config.stash[_SPENT]
        item.config.stash[_SPENT] = now
    return report


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    if config.getoption("--dearest"):
        spent: Counter[str] = Counter()
        for each in chain.from_iterable(terminalreporter.stats.values()):
            if isinstance(each, pytest.TestReport):
                spent[each.nodeid] += each.cpu
        terminalreporter.section(f"CPU seconds of tests: {spent.total():.0f}")
        for name, seconds in spent.most_common(config.getoption("--dearest")):
            terminalreporter.line(f"{seconds:7.2f} {name}")


def pytest_report_header(config: pytest.Config) -> str | None:
    """The seed, so that the same sample can be taken again."""
    seed = config.getoption("--sample")
    return None if seed is None else f"sample: --sample {seed} takes the same cases again"


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not import a module all of whose tests `-m "not ..."` leaves out: they are a third of all."""
    asked = config.option.markexpr.split(" and ")
    unwanted = {each.removeprefix("not ") for each in asked if re.fullmatch(r"not \w+", each)}
    if unwanted and collection_path.name.startswith("test_") and collection_path.suffix == ".py":
        said = re.search(r"^pytestmark = (.*)", collection_path.read_text(), re.MULTILINE)
        if said and unwanted & set(re.findall(r"pytest\.mark\.(\w+)", said[1])):
            return True
    return None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[object]:
    """Until all tests are collected nothing that is made can be let go of."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out two thirds of the cases of each sampled test, and of the examples of each property.

    Sampled tests that name a family are cases of one: `sampled("a Spark of its own")`.
    """
    seed = config.getoption("--sample")
    if seed is None:
        return
    families = defaultdict(list)
    for item in items:
        if marker := item.get_closest_marker("sampled"):
            families[marker.args[0] if marker.args else item.nodeid.partition("[")[0]].append(item)
    left_out: set[str] = set()
    for name, family in families.items():
        kept = Random(f"{seed} {name}").sample(family, _third(len(family)))
        left_out |= {each.nodeid for each in family} - {each.nodeid for each in kept}
    config.hook.pytest_deselected(items=[each for each in items if each.nodeid in left_out])
    items[:] = [each for each in items if each.nodeid not in left_out]
    for test in {each.obj for each in items if hasattr(each, "obj")}:
        asked = getattr(test, "_hypothesis_internal_use_settings", None)
        if asked is not None:
            fewer = settings(asked, max_examples=_third(asked.max_examples))
            test._hypothesis_internal_use_settings = fewer


def _third(count: int) -> int:
    return -(-count // 3)


@pytest.fixture
def sample(request: pytest.FixtureRequest) -> Callable[[Sequence[int]], list[int]]:
    """For cases inside one test: a third of some numbers, by the seed; without a seed all of them."""
    seed = request.config.getoption("--sample")

    def choose(cases: Sequence[int]) -> list[int]:
        if seed is None:
            return list(cases)
        return Random(f"{seed} {request.node.nodeid}").sample(cases, _third(len(cases)))

    return choose


@pytest.fixture(scope="session", autouse=True)
def _cache_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A cache folder for the tests' projects, which are many and short-lived; Java's archives stay where they are."""
    kept = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rocky/class-data"
    home = tmp_path_factory.mktemp("cache")
    (home / "rocky").mkdir(mode=0o700)
    with suppress(OSError):
        kept.mkdir(parents=True, exist_ok=True)
        (home / "rocky/class-data").symlink_to(kept)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(home))
        yield


@pytest.fixture
def bless(request: pytest.FixtureRequest) -> bool:
    """Whether expected files are to be rewritten."""
    return bool(request.config.getoption("--bless"))


@pytest.fixture
def repository() -> Path:
    """The root of the checkout."""
    return Path(__file__).parent.parent


def pytest_collection_finish(session: pytest.Session) -> None:
    """Spare the collector of garbage all that stays until the end: modules, and thousands of tests."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)
    session.config.stash[_SPENT] = _cpu()

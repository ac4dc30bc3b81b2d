"""What every test shares: the `--bless` switch and Hypothesis profiles.

Goldens hold wording and shape; `pytest --bless` rewrites them, and the diff is what
gets reviewed. A test that blesses must still assert when it does not.
"""

import os
from collections import defaultdict
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

# Every JVM that a test starts: it lives for seconds over a few rows, which code that is compiled
# well and collected beside the work never repays.
os.environ.setdefault(
    "JDK_JAVA_OPTIONS",
    "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--bless", action="store_true", help="rewrite expected files from what is")
    parser.addoption(
        "--sample",
        type=int,
        metavar="SEED",
        help="of tests marked `sampled` take a third of the cases, chosen by SEED",
    )


def pytest_report_header(config: pytest.Config) -> str | None:
    """The seed, so that the same sample can be taken again."""
    seed = config.getoption("--sample")
    return None if seed is None else f"sample: --sample {seed} takes the same cases again"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out two thirds of the cases of each sampled test; one that has no cases stays."""
    seed = config.getoption("--sample")
    if seed is None:
        return
    families = defaultdict(list)
    for item in items:
        if item.get_closest_marker("sampled"):
            families[item.nodeid.partition("[")[0]].append(item)
    left_out: set[str] = set()
    for name, family in families.items():
        kept = Random(f"{seed} {name}").sample(family, -(-len(family) // 3))
        left_out |= {each.nodeid for each in family} - {each.nodeid for each in kept}
    config.hook.pytest_deselected(items=[each for each in items if each.nodeid in left_out])
    items[:] = [each for each in items if each.nodeid not in left_out]


@pytest.fixture
def bless(request: pytest.FixtureRequest) -> bool:
    """Whether expected files are to be rewritten."""
    return bool(request.config.getoption("--bless"))


@pytest.fixture
def repository() -> Path:
    """The root of the checkout."""
    return Path(__file__).parent.parent

"""What every test shares: the `--bless` switch and Hypothesis profiles.

Goldens hold wording and shape; `pytest --bless` rewrites them, and the diff is what
gets reviewed. A test that blesses must still assert when it does not.
"""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# A shared machine is slow at random: a deadline would fail the machine, not the code. The same
# examples each time, so that a red build is red again when someone looks.
settings.register_profile(
    "house", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("house")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--bless", action="store_true", help="rewrite expected files from what is")


@pytest.fixture
def bless(request: pytest.FixtureRequest) -> bool:
    """Whether expected files are to be rewritten."""
    return bool(request.config.getoption("--bless"))


@pytest.fixture
def repository() -> Path:
    """The root of the checkout."""
    return Path(__file__).parent.parent

"""The shop, written and compiled once for all that only look at it."""

import pytest

from rocky.ide.view import View
from tests.ide.projects import shop


@pytest.fixture(scope="session")
def view(tmp_path_factory: pytest.TempPathFactory) -> View:
    return shop(tmp_path_factory.mktemp("shop"))

"""What of the extension needs no editor, tested by Node's own runner."""

import os
import subprocess

import pytest

from tests.editors.code import NODE, ROOT

pytestmark = [pytest.mark.slow, pytest.mark.exhaustive]


def test_the_tests_of_the_extension_pass_without_an_editor():
    if not NODE.exists():
        said = "needs Node: make vscode"
        assert not os.environ.get("ROCKY_EDITORS"), said
        pytest.skip(said)
    folder = ROOT / "editors/vscode"
    done = subprocess.run(
        [NODE, "--test", *sorted(folder.glob("tests/*.test.mts"))],
        capture_output=True,
        text=True,
        check=False,
    )

    assert 0 == done.returncode, done.stdout + done.stderr
    assert "pass 0" not in done.stdout

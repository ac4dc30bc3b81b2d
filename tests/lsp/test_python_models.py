"""An editor is told of Python models by their plans, once whoever opened the folder vouches."""

from pathlib import Path

import pytest

from rocky.lsp.server import open_session
from tests.operations.projects import open_project
from tests.operations.test_python_plans import HEAD, INPUTS, PAID, files_of


@pytest.mark.slow
def test_unsaved_code_is_judged_where_the_folder_is_trusted_and_not_run_elsewhere(
    tmp_path: Path,
) -> None:
    workspace = open_project(tmp_path, files_of({"paid": (PAID, INPUTS)}))
    edited = {"models/paid.py": HEAD + "    return orders.select('idd')\n"}

    def found(*, trusted: bool) -> list[str]:
        session = open_session(workspace, tmp_path, lambda _: None, trusted=trusted)
        session.reload()
        after = session.edit(edited)
        return [each.code.value for each in after.findings.get("models/paid.py", ())]

    assert ["W025"] == found(trusted=False)
    assert ["E003"] == found(trusted=True)

"""New projects from Python: no file that exists is touched."""

import pytest

from rocky.operations.check.compile import CompileRequest, compile_models
from rocky.operations.migration.template import (
    PLAYGROUNDS,
    InitRequest,
    PlaygroundRequest,
    UnknownTemplate,
    WouldOverwrite,
    init,
    playground,
)
from rocky.operations.workspace import Workspace


@pytest.mark.parametrize("template", PLAYGROUNDS)
def test_a_playground_compiles(tmp_path, template):
    made = playground(PlaygroundRequest(tmp_path / "new", template))

    assert all((tmp_path / "new" / path).is_file() for path in made.files)
    assert not compile_models(Workspace(tmp_path / "new"), CompileRequest()).failed


def test_a_new_project_compiles_and_is_made_once(tmp_path):
    made = init(InitRequest(tmp_path))

    assert {"rocky.toml", ".gitignore"} <= set(made.files)
    assert not compile_models(Workspace(tmp_path), CompileRequest()).failed
    with pytest.raises(WouldOverwrite):
        init(InitRequest(tmp_path))
    with pytest.raises(WouldOverwrite):
        playground(PlaygroundRequest(tmp_path))
    with pytest.raises(UnknownTemplate, match="did you mean `shop`"):
        playground(PlaygroundRequest(tmp_path / "new", "shpo"))

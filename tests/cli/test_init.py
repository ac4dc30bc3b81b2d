from rocky.cli.console import ExitCode


def test_a_new_project_compiles_without_a_finding(rocky, monkeypatch, tmp_path):
    made = rocky("init", "fresh")
    monkeypatch.chdir(tmp_path / "fresh")
    answer = rocky("compile")

    assert ExitCode.OK == made.code
    assert {"rocky.toml", ".gitignore"} < set(made.json["files"])
    assert (ExitCode.OK, []) == (answer.code, answer.json["diagnostics"])


def test_a_project_is_not_made_over_another(rocky, write):
    root = write({})
    before = (root / "rocky.toml").read_text()
    answer = rocky("init")

    assert ExitCode.FAILED == answer.code
    assert "this is a project already" in answer.err
    assert before == (root / "rocky.toml").read_text()


def test_where_there_is_sql_already_only_the_settings_are_written(rocky, tmp_path):
    (tmp_path / "queries").mkdir()
    (tmp_path / "queries" / "one.sql").write_text("SELECT 1 AS one\n")

    assert ["rocky.toml"] == [name for name in rocky("init").json["files"] if name != ".gitignore"]


def test_a_gitignore_that_exists_is_kept(rocky, tmp_path):
    (tmp_path / ".gitignore").write_text("mine\n")
    rocky("init")

    assert "mine\n" == (tmp_path / ".gitignore").read_text()


def test_a_playground_needs_an_empty_folder(rocky, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()

    assert ExitCode.FAILED == rocky("playground", "full").code
    assert ExitCode.OK == rocky("playground", "empty").code

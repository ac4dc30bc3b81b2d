import os
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from rocky.errors import RockyError
from rocky.project import load_project
from rocky.project.cache import MODELS
from rocky.project.configuration.strategies import Merge, View
from rocky.project.user_cache import cache_place
from tests.project.projects import findings, load

FILES = {
    "models/_defaults.toml": 'strategy = "view"\n[target]\nschema = "mart"\n',
    "models/plain.sql": "SELECT 1 AS x -- rocky: allow(W021)\n",
    "models/own.sql": "SELECT 1 AS x\n",
    "models/own.toml": 'name = "Named"\ndepends_on = ["plain"]\n[target]\ncatalog = "lake"\n[strategy]\ntype = "merge"\nunique_key = ["x"]\n',
    "models/matter.sql": '---toml\nintent = "why"\n---\nSELECT 1 AS x\n',
}


def settle(root: Path) -> None:
    """Let the files be older than the memory that will be saved about them."""
    then = time.time_ns() - 10**9
    for path in root.rglob("*.*"):
        os.utime(path, ns=(then, then))
    # The change time cannot be set, and the memory waits for it to be past.
    time.sleep(0.03)


def memory_of(root: Path) -> Path:
    folder = cache_place(root).folder
    assert folder is not None
    return folder / MODELS


def remembered(root: Path, env=None):
    return load_project(root, env=env or {}, remember=True)


def facts(project):
    return [
        (
            model.name, model.path, model.target, model.strategy, model.settings.intent, model.depends_on, model.text, model.sql,
            model.sql_offset, model.marked, model.pipeline, model.settings_place, model.text_hash, model.settings_hash,
        )
        for model in project.models.values()
    ]  # fmt: skip


def unread(project) -> set[str]:
    """The models whose text nobody has read yet."""
    return {model.name for model in project.models.values() if model._text is None}


def test_a_remembered_model_is_the_model_that_was_loaded(tmp_path):
    first = load(tmp_path, FILES)
    settle(tmp_path)
    remembered(tmp_path)
    second = remembered(tmp_path)

    assert {"plain", "Named", "matter"} == unread(second)
    assert facts(first) == facts(second)
    assert [Merge(("x",)), View()] == [second.models[key].strategy for key in ("named", "plain")]
    assert second.models["plain"].marked


def test_without_being_asked_nothing_is_remembered(tmp_path):
    load(tmp_path, FILES)

    assert not memory_of(tmp_path).exists()


@pytest.mark.parametrize(
    ("path", "content", "read_again"),
    [
        ("models/plain.sql", "SELECT 2 AS x\n", {"plain"}),
        ("models/own.toml", 'intent = "new"\n', {"own"}),
        ("models/plain.toml", 'intent = "new"\n', {"plain"}),
        ("models/_defaults.toml", "", {"plain", "Named", "matter"}),
        ("models/extra.sql", "SELECT 1 AS x\n", {"extra"}),
        (
            "rocky.toml",
            '[pipeline.shop]\ntarget = { catalog = "c" }\n',
            {"plain", "Named", "matter"},
        ),
    ],
)
def test_what_a_change_touches_is_read_again(tmp_path, path, content, read_again):
    load(tmp_path, FILES)
    settle(tmp_path)
    remembered(tmp_path)
    (tmp_path / path).write_text(content)
    project = remembered(tmp_path)

    assert read_again == {model.name for model in project.models.values()} - unread(project)
    assert facts(load_project(tmp_path, env={})) == facts(project)


def test_a_removed_sidecar_is_noticed(tmp_path):
    load(tmp_path, FILES)
    settle(tmp_path)
    remembered(tmp_path)
    (tmp_path / "models" / "own.toml").unlink()

    assert {"plain", "own", "matter"} == {m.name for m in remembered(tmp_path).models.values()}


def test_a_file_of_the_same_size_and_time_is_still_noticed(tmp_path):
    load(tmp_path, FILES)
    settle(tmp_path)
    remembered(tmp_path)
    path = tmp_path / "models" / "plain.sql"
    times = path.stat()
    path.write_text(path.read_text().replace("SELECT 1", "SELECT 2"))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

    assert "SELECT 2 AS x -- rocky: allow(W021)\n" == remembered(tmp_path).models["plain"].text


def test_a_file_written_just_before_the_memory_is_not_believed(tmp_path):
    load(tmp_path, FILES)
    settle(tmp_path)
    remembered(tmp_path)
    memory = memory_of(tmp_path)
    changed = (tmp_path / "models" / "plain.sql").stat().st_ctime_ns
    os.utime(memory, ns=(changed, changed + 1000))

    assert set() == unread(remembered(tmp_path))
    assert {"plain", "Named", "matter"} == unread(remembered(tmp_path))


def test_the_clock_of_another_file_system_is_given_two_seconds(tmp_path, monkeypatch):
    places = (Path("/dev/shm"), Path("/tmp"), Path("/var/tmp"), Path.home())
    device = tmp_path.stat().st_dev
    other = [each for each in places if each.is_dir() and each.stat().st_dev != device]
    if not other:
        pytest.skip("there is one file system")
    with TemporaryDirectory(dir=other[0]) as home:
        monkeypatch.setenv("XDG_CACHE_HOME", home)
        load(tmp_path, FILES)
        settle(tmp_path)
        remembered(tmp_path)
        assert set() == unread(remembered(tmp_path))
        later = time.time_ns() + 3 * 10**9
        os.utime(memory_of(tmp_path), ns=(later, later))

        assert {"plain", "Named", "matter"} == unread(remembered(tmp_path))


def test_a_model_with_a_finding_is_reported_every_time(tmp_path):
    load(tmp_path, FILES | {"models/bad.sql": "SELECT 1 AS x", "models/bad.toml": 'intnt = "x"'})
    settle(tmp_path)
    first = findings(remembered(tmp_path))

    assert ["E017 models/bad.toml:1:1 'intnt' unknown key `intnt`"] == first
    assert first == findings(remembered(tmp_path))


def test_a_model_that_follows_the_environment_is_not_remembered(tmp_path):
    load(tmp_path, FILES | {"models/own.toml": 'intent = "${WHY}"\n'}, {"WHY": "a"})
    settle(tmp_path)
    remembered(tmp_path, {"WHY": "a"})

    assert "b" == remembered(tmp_path, {"WHY": "b"}).models["own"].settings.intent


@pytest.mark.parametrize("damage", [b"", b"rocky-models-1\n", b"x" * 400, None])
def test_a_damaged_memory_is_no_memory(tmp_path, damage):
    load(tmp_path, FILES)
    settle(tmp_path)
    remembered(tmp_path)
    memory = memory_of(tmp_path)
    memory.write_bytes(memory.read_bytes()[:-3] if damage is None else damage)
    project = remembered(tmp_path)

    assert set() == unread(project)
    assert facts(load_project(tmp_path, env={})) == facts(project)


def test_a_memory_that_cannot_be_written_is_no_failure(tmp_path, monkeypatch):
    load(tmp_path, FILES)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "rocky.toml"))

    assert [] == findings(remembered(tmp_path))


def test_an_unchanged_project_does_not_write_its_memory_again(tmp_path):
    load(tmp_path, FILES)
    settle(tmp_path)
    remembered(tmp_path)
    before = memory_of(tmp_path).stat()
    remembered(tmp_path)

    assert before.st_mtime_ns == memory_of(tmp_path).stat().st_mtime_ns
    assert [memory_of(tmp_path)] == list(memory_of(tmp_path).parent.iterdir())


def test_a_text_that_changed_after_loading_is_refused(tmp_path):
    load(tmp_path, FILES)
    settle(tmp_path)
    remembered(tmp_path)
    project = remembered(tmp_path)
    (tmp_path / "models" / "plain.sql").write_text("SELECT 3 AS x")

    with pytest.raises(RockyError, match=r"`models/plain.sql` changed while"):
        _ = project.models["plain"].text

"""Seeds that have not changed are not read again, and come out as if they had been."""

import os
from dataclasses import replace

import pytest

from rocky.project import seeds as module
from rocky.project.cache import SEEDS
from rocky.project.user_cache import cache_place
from tests.project.projects import findings, load
from tests.project.test_memory import remembered, settle

FILES = {
    "models/m.sql": "SELECT 1 AS x\n",
    "seeds/plain.csv": "id,at,amount\n1,2026-01-01,1.5\n2,2026-01-02,2.5\n",
    "seeds/said.csv": "id;price\n1;2.50\n",
    "seeds/said.toml": (
        'delimiter = ";"\ndescription = "said"\n'
        'columns = [ { name = "price", type = "decimal(10,2)", nullable = false } ]\n'
    ),
}


def facts(project):
    """All that is known of the seeds, in values that can be compared."""
    return [
        (
            replace(seed, columns=()),
            [(each.name, str(each.type), each.nullable) for each in seed.columns],
        )
        for seed in project.seeds.values()
    ]


@pytest.fixture
def read(monkeypatch) -> list[str]:
    """The seeds that are read, as it happens."""
    found: list[str] = []
    whole = module.read_text

    def read_text(root, path, *given):
        if path.endswith(".csv"):
            found.append(path)
        return whole(root, path, *given)

    monkeypatch.setattr(module, "read_text", read_text)
    return found


@pytest.fixture
def root(tmp_path, read):
    load(tmp_path, FILES)
    settle(tmp_path)
    remembered(tmp_path)
    read.clear()
    return tmp_path


def test_a_remembered_seed_is_the_seed_that_was_loaded(root, read):
    second = remembered(root)

    assert [] == read
    assert facts(load(root, {})) == facts(second)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("seeds/plain.csv", "id,at,amount\nx,2026-01-01,1.5\n2,2026-01-02,2.5\n"),
        ("seeds/plain.toml", 'columns = [ { name = "id", type = "int" } ]\n'),
        ("seeds/said.toml", 'delimiter = ";"\n'),
    ],
)
def test_one_that_was_changed_is_read_again(root, read, path, text):
    (root / path).write_text(text)
    second = remembered(root)

    assert [f"{path.rpartition('.')[0]}.csv"] == read
    assert facts(load(root, {})) == facts(second)


def test_a_change_that_leaves_size_and_time_is_seen(root, read):
    path = root / "seeds/plain.csv"
    before = path.stat()
    path.write_text(path.read_text().replace("2026-01-01", "2026-21-01"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    assert facts(load(root, {})) == facts(remembered(root))
    assert "seeds/plain.csv" in read


def test_findings_are_told_each_time(root, read):
    (root / "seeds/said.csv").write_text("id;price\n1;dear\n")
    settle(root)
    told = [findings(remembered(root)) for _ in range(3)]

    assert 1 == len(told[0])
    assert [told[0]] * 3 == told


def test_what_a_variable_decides_is_not_remembered(root, read):
    kind = 'columns = [ { name = "id", type = "${KIND}" } ]\n'
    (root / "seeds/plain.toml").write_text(kind)
    settle(root)
    found = [
        str(remembered(root, {"KIND": each}).seeds["plain"].columns[0].type)
        for each in ("int", "int", "bigint")
    ]

    assert ["int", "int", "bigint"] == found


def test_a_memory_that_somebody_else_wrote_is_not_believed(root, read):
    path = cache_place(root).folder / SEEDS
    path.write_bytes(path.read_bytes().replace(b"amount", b"profit"))

    assert facts(load(root, {})) == facts(remembered(root))
    assert {"seeds/plain.csv", "seeds/said.csv"} <= set(read)


def test_a_seed_that_is_gone_is_forgotten(root, read):
    (root / "seeds/plain.csv").unlink()

    assert {"said"} == set(remembered(root).seeds)
    assert {"said"} == set(remembered(root).seeds)

"""`rocky seed` without Spark: what is refused, and what needs no loading."""

import pytest

from rocky.cli.console import ExitCode
from rocky.project import load_project
from rocky.run.materialize.seeds import load_seed, seed_target
from rocky.store.warehouse import open_warehouse
from tests.cli.test_schemas import check
from tests.run.memory_engine import MemoryEngine

FILES = {"seeds/codes.csv": "code,label\n1,one\n", "models/a.sql": "SELECT code FROM codes\n"}


def load_all(root):
    project = load_project(root, env={})
    for seed in project.seeds.values():
        table = open_warehouse("warehouse", base=root).table(seed_target(seed, project.config))
        load_seed(seed, table, MemoryEngine(root), {})


@pytest.mark.parametrize(
    ("files", "arguments", "said"),
    [
        ({"models/a.sql": "SELECT 1 AS one\n"}, (), "the project has no seeds; put a CSV with a header into `seeds/`"),
        (FILES, ("code",), "no seed `code`; did you mean `codes`?"),
        ({**FILES, "models/codes.sql": "SELECT 1 AS one\n"}, (), "seed `codes` and model `codes` would both write `spark_catalog.default.codes`"),
        ({**FILES, "seeds/codes.csv": "code,label\n1\n"}, (), "1 error: nothing was loaded"),
    ],
)  # fmt: skip
def test_what_cannot_be_loaded_is_refused_before_spark_starts(rocky, write, files, arguments, said):
    write(files)
    answer = rocky("seed", *arguments, "-o", "table")

    assert ExitCode.FAILED == answer.code
    assert said in answer.err


def test_errors_in_models_do_not_keep_seeds_from_loading(rocky, write):
    root = write({**FILES, "models/a.sql": "SELECT nope FROM codes\n"})
    load_all(root)

    assert ExitCode.OK == rocky("seed").code


def test_unchanged_seeds_need_no_spark(rocky, write):
    root = write(FILES)
    load_all(root)
    answer = rocky("seed", "-o", "table")

    assert (ExitCode.OK, "nothing to load: `codes` unchanged\n") == (answer.code, answer.out)
    assert not (root / ".rocky-state.db").exists()


def test_the_document_of_unchanged_seeds_fits_its_schema(rocky, write):
    load_all(write(FILES))
    document = rocky("seed").json

    assert [] == check(document, "seed")
    counts = {"loaded": 0, "unchanged": 1, "failed": 0, "interrupted": 0, "held": 0}
    assert counts == document["summary"]

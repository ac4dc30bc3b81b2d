"""A notebook as people have it: a kernel, cells, a session of one's own, and what is shown of it."""

import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from tests.spark.projects import write_files

pytestmark = pytest.mark.spark

FILES = {
    "models/things.sql": "SELECT id, upper(name) AS name FROM names",
    "models/counted.sql": "SELECT name, count(*) AS n FROM things GROUP BY name",
    "seeds/names.csv": "id,name\n1,ann\n2,bob\n",
}

CELLS = {
    "start": """
        import rocky
        from pyspark.sql import SparkSession
        spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
        spark.sparkContext.setLogLevel("OFF")
        shop = rocky.open(".", spark=spark)
        shop""",
    "magic": "%load_ext rocky",
    "complete": """
        get_ipython().Completer.use_jedi = False
        sorted(get_ipython().complete("shop.", "shop.")[1])""",
    "run": "shop.run()",
    "again": "shop.run()",
    "silent": 'rocky.open(".", spark=spark, progress=False).run()',
    "lineage": 'shop.lineage("counted.name")',
    "table": 'shop.table("things").count()',
    "cell": "%%rocky found\nSELECT name FROM things WHERE id > 1",
    "rows": "[row.name for row in found.collect()]",
    "wrong": "%%rocky\nSELECT nme FROM things",
    "refused": 'shop.run("nothing_of_that_name")',
    "test": "shop.test()",
}


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """The outputs of each cell of a notebook that was run from top to bottom."""
    root = write_files(tmp_path_factory.mktemp("notebook"), FILES)
    cells = {
        name: new_code_cell(
            "\n".join(line.removeprefix(" " * 8) for line in text.strip("\n").splitlines())
        )
        for name, text in CELLS.items()
    }
    notebook = new_notebook(cells=list(cells.values()))
    NotebookClient(
        notebook,
        timeout=300,
        kernel_name="python3",
        allow_errors=True,
        resources={"metadata": {"path": str(root)}},
    ).execute()
    return {name: cell.outputs for name, cell in cells.items()}


def result(outputs, kind: str = "text/plain") -> str:
    (found,) = [each.data for each in outputs if each.output_type == "execute_result"]
    return found[kind]


def test_a_run_shows_its_progress_in_one_place_and_ends_with_its_report(shown):
    progress, report = shown["run"]

    assert "display_data" == progress.output_type
    assert progress.data["text/plain"].startswith("run ended after ")
    assert "built" in progress.data["text/html"]
    assert "<progress" not in progress.data["text/html"], "it is over"
    assert "<RunReport: Success in " in report.data["text/plain"]
    assert "<td>things</td><td>built</td>" in report.data["text/html"]


def test_a_second_run_reuses_and_one_that_is_to_be_silent_shows_its_report_only(shown):
    assert "2 reused" in result(shown["again"])
    assert ["execute_result"] == [each.output_type for each in shown["silent"]]


def test_lineage_is_a_picture(shown):
    html = result(shown["lineage"], "text/html")
    assert html.startswith("<svg")
    assert html.split("<details>")[0] == result(shown["lineage"], "image/svg+xml")


def test_tables_and_cells_of_sql_are_frames(shown):
    assert "2" == result(shown["table"])
    assert "DataFrame[name: string]" == result(shown["cell"])
    assert "['BOB']" == result(shown["rows"])


def test_a_mistake_is_told_by_its_place_without_a_stack(shown):
    (wrong,) = shown["wrong"]
    assert "ErrorsFound" == wrong.ename
    assert "no column `nme` in scope" in wrong.traceback[0]
    assert not any("File " in line for line in wrong.traceback)
    said = [each for each in shown["refused"] if each.output_type == "error"]
    assert "NothingSelected" == said[0].ename
    assert not any("site-packages" in line or "rocky/api" in line for line in said[0].traceback)


def test_completion_has_every_method_and_nothing_private(shown):
    names = result(shown["complete"])
    assert ".lineage'" in names
    assert ".table'" in names
    assert "branch_adapter" not in names
    assert "is_branch_known" not in names


def test_a_workspace_says_which_project_it_is(shown):
    assert "Workspace(path='.')" == result(shown["start"])
    assert "<TestReport: " in result(shown["test"])

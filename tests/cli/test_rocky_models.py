"""Models in the `.rocky` language in the commands that people type: they are models like any other."""

import json
import re
from pathlib import Path

import pytest

from tests.project.git.repos import make_repo

GUIDE = Path(__file__).parents[2] / "docs/guides/rocky-dsl.md"
CONFIG = '[pipeline.shop]\nmodels = "models/**"\n'
TABLES = {
    "models/orders.sql": "SELECT 1 AS customer_id, 'paid' AS status, CAST(10 AS DECIMAL(10,2)) AS amount, CAST(NULL AS DECIMAL(10,2)) AS discount\n",
    "models/customers.sql": "SELECT 1 AS customer_id, 'IT' AS country\n",
}  # fmt: skip


def blocks(language: str) -> list[str]:
    fence = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    return [text for kind, text in fence.findall(GUIDE.read_text()) if kind == language]


@pytest.fixture
def guide(tmp_path, rocky):
    files = {"rocky.toml": CONFIG, **TABLES, "models/best_customers.rocky": blocks("rocky")[0]}
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_the_guide_shows_the_sql_that_is_emitted(guide, rocky):
    shown = next(each for each in blocks("") if each.startswith("$ rocky emit-sql"))

    assert shown == "$ rocky emit-sql best_customers\n" + rocky("emit-sql", "best_customers", "-o", "table").out  # fmt: skip


def test_the_guide_shows_the_finding_of_a_misspelt_step(guide, rocky):
    path = guide / "models/best_customers.rocky"
    path.write_text(path.read_text().replace("derive { net", "deriv { net"))
    shown = next(each for each in blocks("") if each.startswith("error[E009"))
    said = rocky("compile", "-o", "table")

    assert 1 == said.code
    assert shown.strip() in said.out


def test_the_guides_example_is_laid_out_as_fmt_does(guide, rocky):
    assert 0 == rocky("fmt", "--check").code


def test_it_is_listed_selected_and_documented(guide, rocky):
    listed = rocky("list", "models", "+best_customers").json["models"]
    assert ["best_customers", "customers", "orders"] == sorted(each["name"] for each in listed)
    (own,) = rocky("list", "path:models/best_customers.rocky").json["models"]
    assert "best_customers" == own["name"]
    assert 0 == rocky("validate").code

    assert 0 == rocky("docs").code
    pages = "".join(path.read_text() for path in (guide / "target/docs/data").rglob("*.js"))
    assert '"language":"rocky"' in pages.replace('": "', '":"')


def test_lineage_goes_through_it(guide, rocky):
    found = json.dumps(rocky("lineage", "best_customers.revenue").json)

    assert '"amount"' in found
    assert '"discount"' in found


def test_init_adopts_a_folder_that_has_only_pipelines(tmp_path, rocky):
    (tmp_path / "marts").mkdir()
    (tmp_path / "marts/a.rocky").write_text("from b")
    assert 0 == rocky("init", ".").code

    assert ["marts", "rocky.toml"] == sorted(path.name for path in tmp_path.iterdir())


def test_a_sidecar_without_its_model_finds_it_by_its_name(guide, rocky):
    (guide / "models/best_custmers.toml").write_text('intent = "x"\n')
    (found,) = rocky("validate").json["diagnostics"]

    assert "did you mean `best_customers.rocky`?" == found["help"]


def test_a_folder_is_no_model(guide, rocky):
    (guide / "models/x.rocky").mkdir()
    (found,) = rocky("validate").json["diagnostics"]

    assert "give the folder a name that does not end in `.rocky`" == found["help"]


@pytest.mark.slow
def test_a_change_of_a_pipeline_is_compared_with_its_past(tmp_path, rocky, monkeypatch):
    text = "from orders\nselect { customer_id, net: amount }\n"
    repo = make_repo(tmp_path / "repo", {"rocky.toml": CONFIG, **TABLES, "models/m.rocky": text})
    monkeypatch.chdir(repo.root)
    path = repo.root / "models/m.rocky"

    path.write_text(f"-- said anew\n{text.replace('select { ', 'select {')}")
    assert [] == rocky("ci-diff", "main").json["models"]

    path.write_text(text.replace(", net: amount", ""))
    (changed,) = rocky("ci-diff", "main").json["models"]
    assert "m" == changed["model_name"]
    assert ["net"] == [each["column_name"] for each in changed["column_changes"]]

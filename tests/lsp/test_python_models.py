"""An editor is told of Python models by their plans, once whoever opened the folder vouches."""

from pathlib import Path

import pytest

from rocky.ide.completion import complete
from rocky.ide.declaration import definition
from rocky.ide.hover import hover
from rocky.ide.rename import find_renamable
from rocky.ide.symbols import symbols_in
from rocky.ide.view import View
from rocky.lsp.server import open_session
from tests.lsp.python_shop import SHOP
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


UNUSUAL = {
    "windows": """    w = Window.partitionBy("customer_id").orderBy(F.desc("amount"))
    ranked = orders.withColumn("rank", F.row_number().over(w)).filter(F.col("rank") == 1)
    both = ranked.alias("r").join(customers.alias("c"), F.col("r.id") == F.col("c.customer_id"))
    return both.select("r.id", F.col("c.country")).selectExpr("id", "country as land")
""",
    "loops": """    for c in ["id", "amount"]:
        orders = orders.withColumn(c + "_x", F.col(c).cast("string"))
    return orders.toDF(*[f"{c}_é" for c in orders.columns]).drop("id_é")
""",
    "groups": """    z = orders.groupBy("status").count().fillna({"status": "?"}).dropna(subset=["count"])
    return z.select("*", (F.col("count") + 1).alias("n")).na.fill(0, subset=["n"])
""",
}


@pytest.mark.slow
def test_every_place_of_code_can_be_asked_about_whole_cut_off_and_broken(tmp_path: Path) -> None:
    head = "from pyspark.sql import Window\n" + HEAD.replace("orders", "orders, customers")
    files = {**SHOP, **{f"models/{name}.py": head + body for name, body in UNUSUAL.items()}}
    for name in UNUSUAL:
        files[f"models/{name}.toml"] = 'inputs = { customers = "raw.customers" }\n'
    session = open_session(open_project(tmp_path, files), tmp_path, lambda _: None, trusted=True)
    view = View(session.reload().compilation)
    asked = (hover, complete, definition, find_renamable)

    for path in [f"models/{name}.py" for name in (*UNUSUAL, "paid")]:
        text = view.text_of(path)
        spans = [each.span for each in symbols_in(view.open(path))]
        assert spans
        for offset in range(0, len(text), 23):
            for shown in (text, text[:offset], f"{text[:offset]}({text[offset:]}"):
                for ask in asked:
                    ask(view.open(path, shown), offset)

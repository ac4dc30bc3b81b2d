from pathlib import Path

from rocky.analysis.names import Names
from rocky.plan.refusals import refusing_findings
from rocky.plan.selectors import select_models
from rocky.plan.steps import Read, plan_steps, resolve_name
from tests.plan.projects import compiled


def planned(root: Path, *selectors: str, files: dict[str, str] | None = None):
    compilation = compiled(root, files)
    return plan_steps(compilation, select_models(compilation, selectors))


def test_steps_come_in_layers_after_what_they_read(tmp_path):
    plan = planned(tmp_path)

    assert (
        ("alone", "countries", "stg_orders"),
        ("big_orders",),
        ("by_country",),
        ("report",),
    ) == plan.layers
    assert () == plan.pinned


def test_a_step_says_what_it_is_and_what_it_reads(tmp_path):
    steps = {step.id: step for step in planned(tmp_path).steps}

    assert "build" == steps["stg_orders"].kind
    assert "inline" == steps["big_orders"].kind
    assert "seed" == steps["seed:countries"].kind
    assert (Read("source", "raw.orders"),) == steps["stg_orders"].reads
    assert () == steps["stg_orders"].after
    assert ("big_orders", "seed:countries") == steps["by_country"].after


def test_an_ephemeral_model_that_was_not_selected_is_a_step_all_the_same(tmp_path):
    plan = planned(tmp_path, "by_country")

    assert ["big_orders", "countries", "by_country"] == [step.name for step in plan.steps]
    assert ["by_country"] == [step.name for step in plan.selected]
    assert ("stg_orders",) == plan.pinned


def test_tables_that_are_read_and_not_built_are_pinned(tmp_path):
    assert ("by_country",) == planned(tmp_path, "report").pinned


def test_depends_on_orders_steps_that_do_not_read_each_other(tmp_path):
    plan = planned(
        tmp_path, files={"models/marts/alone.toml": 'depends_on = ["report", "countries"]\n'}
    )

    assert ("report", "seed:countries") == plan.steps[-1].after
    assert "alone" == plan.steps[-1].key


def test_models_that_wait_for_each_other_are_refused(tmp_path):
    plan = planned(tmp_path, files={"models/shop/stg_orders.toml": 'depends_on = ["report"]\n'})

    (found,) = refusing_findings(plan)

    assert "E015" == found.code
    assert (
        "`big_orders`, `by_country`, `report`, `stg_orders` form a cycle through `depends_on`"
        == found.message
    )


def test_a_name_means_to_a_reader_what_the_compiler_took_it_for(tmp_path):
    compilation = compiled(tmp_path)
    names, project = Names(compilation.project), compilation.project

    assert Read("source", "raw.orders") == resolve_name(project, names, ("raw", "orders"), "x")
    assert Read("seed", "countries") == resolve_name(project, names, ("countries",), "x")
    assert Read("model", "by_country") == resolve_name(project, names, ("marts", "by_country"), "x")
    assert None is resolve_name(project, names, ("nothing",), "x")


BROKEN = "SELECT nothing FROM raw.orders"


def test_an_error_in_the_selection_is_refused(tmp_path):
    plan = planned(tmp_path, "alone", files={"models/marts/alone.sql": BROKEN})

    assert ["E003"] == [str(found.code) for found in refusing_findings(plan)]


def test_an_error_in_what_the_selection_reads_is_refused_however_far_up(tmp_path):
    plan = planned(tmp_path, "report", files={"models/shop/stg_orders.sql": BROKEN})

    assert ["stg_orders"] == [found.model for found in refusing_findings(plan)]


def test_an_error_in_an_unrelated_model_does_not_matter(tmp_path):
    plan = planned(tmp_path, "report", files={"models/marts/alone.sql": BROKEN})

    assert () == refusing_findings(plan)


def test_an_error_in_rocky_toml_concerns_every_run(tmp_path):
    plan = planned(tmp_path, "alone", files={"rocky.toml": "[budget]\nmax_usd = 'much'\n"})

    assert ["rocky.toml"] == [found.path for found in refusing_findings(plan)]


def test_an_error_in_the_file_of_a_source_concerns_its_readers_only(tmp_path):
    files = {
        "sources/other.toml": '[[source]]\nname = "other"\nformat = "csv"\ncolumns = "x"\n',
        "models/shop/reader.sql": "SELECT * FROM other",
    }

    assert () == refusing_findings(planned(tmp_path, "report", files=files))
    assert refusing_findings(planned(tmp_path, "reader", files=files))

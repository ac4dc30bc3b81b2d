from pathlib import Path

import pytest

from rocky.analysis.compilation import Compilation
from rocky.errors import NothingSelected
from rocky.plan.selectors import Term, parse_term, path_matches, select_models, select_nodes
from tests.plan.projects import compiled


@pytest.fixture
def shop(tmp_path: Path) -> Compilation:
    return compiled(tmp_path)


EVERY = ("alone", "stg_orders", "big_orders", "by_country", "report")


def test_without_a_selector_every_model_is_selected_in_running_order(shop):
    assert EVERY == select_models(shop, [])


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("report", "report"),
        ("REPORT", "report"),
        ("`report`", "report"),
        ("spark_catalog.marts.by_country", "by_country"),
        ("+report", "stg_orders big_orders by_country report"),
        ("1+report", "by_country report"),
        ("stg_orders+", "stg_orders big_orders by_country report"),
        ("stg_orders+1", "stg_orders big_orders"),
        ("1+by_country+1", "big_orders by_country report"),
        ("+by_country+", "stg_orders big_orders by_country report"),
        ("0+report", "report"),
        ("tag:layer=mart", "alone by_country"),
        ("tag:layer=mart+", "alone by_country report"),
        ("tag:layer", "alone stg_orders by_country"),
        ("tag:sales", "stg_orders"),
        ("path:models/marts", "alone by_country report"),
        ("models/marts/", "alone by_country report"),
        ("./models/marts/*.sql", "alone by_country report"),
        ("models/**/*_orders.sql", "stg_orders big_orders"),
        ("models/shop/stg_orders.sql", "stg_orders"),
        ("pipeline:shop", "stg_orders big_orders"),
        ("source:raw.orders+", "stg_orders big_orders by_country report"),
        ("source:raw.orders+1", "stg_orders"),
        ("seed:countries+", "by_country report"),
        ("*_orders", "stg_orders big_orders"),
        ("name:report", "report"),
        ("models/marts,tag:layer=mart", "alone by_country"),
        ("+report, models/marts", "by_country report"),
    ],
)
def test_a_selector_selects_these_models(shop, selector, expected):
    assert tuple(expected.split()) == select_models(shop, [selector])


def test_several_selectors_are_a_union(shop):
    assert ("alone", "report") == select_models(shop, ["report", "alone"])


def test_exclude_takes_models_away_again(shop):
    assert ("alone", "report") == select_models(shop, [], ["+by_country"])


@pytest.mark.parametrize(
    ("selector", "message"),
    [
        ("repotr", "no model `repotr`; did you mean `report`?"),
        ("+repotr", "no model `repotr`; did you mean `report`?"),
        ("tag:laier", "no model with the tag `laier`; did you mean `layer`?"),
        ("pipeline:shops", "no pipeline `shops`; did you mean `shop`?"),
        ("models/mart", "no model at the path `models/mart`; did you mean `models/marts`?"),
        ("source:raw.order+", "no source `raw.order`; did you mean `raw.orders`?"),
        (
            "source:raw.orders",
            "`source:raw.orders` selects no model: a source is read, not built; "
            "`source:raw.orders+` selects its readers",
        ),
        (
            "report,alone",
            "no model is in all of `report,alone`; a comma means both, several selectors either",
        ),
        (
            "tga:layer",
            "no selector method `tga:` and no model `tga:layer`; did you mean `tag:`?",
        ),
        (
            "+foo:bar",
            "no selector method `foo:` and no model `foo:bar`; a selector begins with a model's"
            " name, `tag:`, `owner:`, `path:`, `pipeline:`, `source:`, `seed:` or `name:`",
        ),
        ("seed:x", "no seed `x`; there is `countries`"),
        (" , ", "a selector must not be empty; name a model, a `tag:` or a path"),
    ],
)
def test_a_selector_that_matches_nothing_is_an_error_that_helps(shop, selector, message):
    with pytest.raises(NothingSelected) as caught:
        select_models(shop, [selector])

    assert message == str(caught.value)


def test_one_selector_that_matches_nothing_is_an_error_beside_others_that_do(shop):
    with pytest.raises(NothingSelected, match="no model `nothing`"):
        select_models(shop, ["report", "nothing"])


def test_an_exclusion_that_matches_nothing_is_an_error(shop):
    with pytest.raises(NothingSelected, match="no model `nothing`"):
        select_models(shop, [], ["nothing"])


def test_excluding_everything_is_an_error(shop):
    with pytest.raises(
        NothingSelected, match="nothing is left to select after excluding `models/`"
    ):
        select_models(shop, [], ["models/"])


def test_a_model_that_reads_a_source_of_its_own_name_is_selected_with_its_readers(tmp_path):
    shop = compiled(
        tmp_path,
        {
            "sources/own.toml": (
                '[[source]]\nname = "own"\nformat = "csv"\npath = "own.csv"\n'
                'columns = [ { name = "id", type = "bigint" } ]\n'
            ),
            "models/shop/own.sql": "SELECT id FROM own",
            "models/shop/reader.sql": "SELECT id FROM own",
        },
    )

    assert ("own", "reader") == select_models(shop, ["source:own+"])
    assert ("own",) == select_models(shop, ["+own"])


def test_a_term_is_taken_apart():
    assert Term("2+a+1", "name", "a", 2, 1) == parse_term("2+a+1")
    assert Term("+tag:x=y", "tag", "x=y", -1, 0) == parse_term("+tag:x=y")
    assert Term("a+", "name", "a", 0, -1) == parse_term("a+")


def test_a_star_in_a_path_stays_inside_one_folder():
    assert path_matches("models/marts/a.sql", "models/*/a.sql")
    assert not path_matches("models/marts/deep/a.sql", "models/*/a.sql")
    assert path_matches("models/marts/deep/a.sql", "models/**")


def test_tags_and_owners_of_what_is_read_lead_to_its_readers(tmp_path):
    compilation = compiled(
        tmp_path,
        {
            "sources/more.toml": '[[source]]\nname = "raw.more"\ntags = ["pii"]\nowner = "CRM"\n'
            'columns = [{ name = "id", type = "bigint" }]\n',
            "models/marts/reader.sql": "SELECT id FROM raw.more\n",
            "models/marts/marked.sql": "SELECT 1 AS x\n",
            "models/marts/marked.toml": 'tags = ["pii"]\nowner = "crm"\n',
        },
    )

    assert {"reader", "marked"} == set(select_models(compilation, ["tag:pii+"]))
    assert ("marked",) == select_models(compilation, ["tag:pii"])
    assert {"reader", "marked"} == set(select_models(compilation, ["owner:crm+"]))
    assert {"raw.more", "marked"} == select_nodes(compilation, ["owner:crm"])
    assert {"raw.more", "reader"} == select_nodes(compilation, ["+reader"])


def test_a_tag_that_only_sources_have_selects_no_model_alone(tmp_path):
    compilation = compiled(
        tmp_path,
        {
            "sources/more.toml": '[[source]]\nname = "raw.more"\ntags = ["pii"]\n'
            'columns = [{ name = "id", type = "bigint" }]\n',
            "models/marts/reader.sql": "SELECT id FROM raw.more\n",
        },
    )

    with pytest.raises(NothingSelected, match="`tag:pii` selects no model: a source or a seed is"):
        select_models(compilation, ["tag:pii"])
    assert ("reader",) == select_models(compilation, ["tag:pii+"])

"""What is published: all that readers need, the same bytes everywhere, and no more."""

import json
import shutil

import pytest

from rocky.analysis.classification import classify
from rocky.analysis.imports.findings import rebinding
from rocky.analysis.imports.publication import project_name, publish_interface
from rocky.compiler.passes import compile_project
from rocky.errors import InterfaceRefused
from rocky.language.datatypes.text import type_from_json
from rocky.project import load_project
from rocky.project.interfaces import Interface, content_hash, decode_interface
from tests.analysis.imports.projects import SHOP, Two, compiled, published, write

EXTRAS = {
    "models/orders.toml": (
        'intent = "paid or not"\n[tags]\nowner = "${TEAM}"\n[classification]\nstatus = "internal"\n'
        '[columns.id]\ndescription = "the key"\n'
    ),
    "contracts/orders.contract.toml": (
        '[[columns]]\nname = "amount"\ntype = "decimal(18,2)"\ndescription = "in euro"\n'
        '[rules]\nrequired = ["id"]\nprotected = ["amount"]\nstrict = false\n'
    ),
}


def table_of(text: str, name: str) -> dict:
    return next(each for each in json.loads(text)["tables"] if each["name"] == name)


def test_an_interface_says_what_readers_need(tmp_path):
    write(tmp_path, {**SHOP, **EXTRAS})

    assert {
        "name": "orders",
        "target": "lake.shop.orders",
        "strategy": "full_refresh",
        "description": "paid or not",
        "tags": {"owner": "${TEAM}"},
        "contract": {"required": ["id"], "protected": ["amount"]},
        "columns": [
            {"name": "id", "type": "bigint", "nullable": False, "description": "the key"},
            {
                "name": "amount",
                "type": "decimal(18,2)",
                "nullable": False,
                "description": "in euro",
            },
            {
                "name": "status",
                "type": "string",
                "nullable": True,
                "classification": "internal",
            },
        ],
    } == table_of(published(tmp_path, {"TEAM": "hunter2"}), "orders")


def test_no_query_no_path_and_no_secret_is_published(tmp_path):
    write(tmp_path, {**SHOP, **EXTRAS})
    text = published(tmp_path, {"TEAM": "hunter2"})

    for secret in ("hunter2", "SELECT", "refunded", "raw.orders", "models/", str(tmp_path)):
        assert secret not in text


def test_the_same_project_gives_the_same_bytes_wherever_it_lies(tmp_path):
    one, other = write(tmp_path / "one", SHOP), tmp_path / "other"
    shutil.copytree(one, other)
    (other / "models/orders.sql").write_text(
        "-- a comment\nselect id, amount,status from raw.orders"
    )

    assert published(one) == published(other)


def test_the_hash_is_of_the_content(tmp_path):
    content = json.loads(published(write(tmp_path, SHOP)))

    assert content_hash(content) == content.pop("interface_hash") == content_hash(content)


def test_what_is_written_is_read_back(tmp_path):
    sql = "SELECT array(id) AS `a b`, named_struct('x y', id, 'z', amount) AS s FROM raw.orders"
    text = published(write(tmp_path, {**SHOP, "models/orders.sql": sql}))
    read = decode_interface("shop.json", text)

    assert isinstance(read, Interface)
    ir = compiled(tmp_path).models["orders"]
    table = read.table("LAKE.shop.Orders")
    assert [(each.name, each.type, each.nullable) for each in ir.columns] == [
        (each.name, each.type, each.nullable) for each in table.columns
    ]
    assert table.columns[1].type is type_from_json(table_of(text, "orders")["columns"][1]["type"])


def test_a_type_that_is_not_known_is_refused_by_name(tmp_path):
    write(tmp_path, {**SHOP, "models/odd.sql": "SELECT from_json(status, status) AS x FROM orders"})
    compilation = compiled(tmp_path)

    with pytest.raises(InterfaceRefused, match=r"`odd"):
        publish_interface(
            compilation.project,
            compilation.models,
            compilation.models,
            rebinding(compilation),
            classify(compilation),
        )


@pytest.mark.parametrize(
    ("config", "name"),
    [
        ('[pipeline.shop]\nmodels = "models/**"\n', "shop"),
        ('[publish]\nname = "till"\n[pipeline.shop]\nmodels = "models/**"\n', "till"),
    ],
)
def test_a_project_is_called_by_its_pipeline_unless_it_says_otherwise(tmp_path, config, name):
    project = load_project(write(tmp_path, {**SHOP, "rocky.toml": config}), env={})

    assert name == project_name(project)


def test_a_project_without_a_name_is_refused(tmp_path):
    project = load_project(write(tmp_path, {**SHOP, "rocky.toml": ""}), env={})

    with pytest.raises(InterfaceRefused, match=r"set `name` in `\[publish\]`"):
        project_name(project)


def test_reads_are_published_as_they_were_accepted(tmp_path):
    star = "SELECT * FROM shop.refunds"
    where = "SELECT id FROM shop.orders WHERE status = 'x' AND id > 1"
    two = Two(tmp_path, {"models/star.sql": star, "models/revenue.sql": where})
    two.change(orders="SELECT id, amount, CAST(status AS VARCHAR(9)) AS status FROM raw.orders")

    assert [
        {
            "import": "shop",
            "project": "shop",
            "table": "lake.shop.orders",
            "by": ["revenue"],
            "strategy": "full_refresh",
            "whole": [],
            "ordered": [],
            "exact": [],
            "columns": [
                {
                    "name": "id",
                    "type": "bigint",
                    "nullable": False,
                    "by": ["revenue", "revenue.id"],
                },
                {"name": "status", "type": "string", "nullable": True, "by": ["revenue"]},
            ],
        },
        {
            "import": "shop",
            "project": "shop",
            "table": "lake.shop.refunds",
            "by": ["star"],
            "strategy": "full_refresh",
            "whole": ["star"],
            "ordered": [],
            "exact": [],
            "columns": [
                {"name": "id", "type": "bigint", "nullable": False, "by": ["star.id"]},
                {
                    "name": "amount",
                    "type": "decimal(18,2)",
                    "nullable": False,
                    "by": ["star.amount"],
                },
            ],
        },
    ] == json.loads(published(two.finance))["reads"]


@pytest.mark.parametrize(
    "reader",
    [
        "SELECT id FROM shop.orders ORDER BY amount",
        "SELECT id FROM (SELECT id, amount * 2 AS twice FROM shop.orders)",
        "SELECT * EXCEPT (amount) FROM shop.orders",
        "WITH unused AS (SELECT amount FROM shop.orders) SELECT id FROM shop.orders",
        "SELECT count(*) AS n FROM (SELECT * FROM shop.orders UNION ALL SELECT 1L, 2.0BD, 's')",
        "SELECT count(*) AS n FROM (SELECT DISTINCT * FROM shop.orders)",
        "SELECT count(DISTINCT *) AS n FROM shop.orders",
    ],
)
def test_whatever_a_query_would_miss_is_published_as_read(tmp_path, reader):
    two = Two(tmp_path, {"models/revenue.sql": reader})
    two.fetch()
    (read,) = json.loads(published(two.finance))["reads"]

    assert "amount" in [each["name"] for each in read["columns"]]


@pytest.mark.parametrize(
    ("reader", "expected"),
    [
        ("SELECT id, amount FROM shop.orders", ([], [], [])),
        ("SELECT * FROM shop.orders", (["revenue"], [], [])),
        (
            "SELECT 1L AS i, 2.0BD AS a, 's' AS s UNION ALL SELECT * FROM shop.orders",
            (["revenue"], ["revenue"], ["revenue"]),
        ),
        (
            "WITH o(i, a, s) AS (SELECT * FROM shop.orders) SELECT i - a AS d FROM o",
            (["revenue"], ["revenue"], ["revenue"]),
        ),
        ("SELECT DISTINCT * FROM shop.orders", (["revenue"], [], ["revenue"])),
        ("SELECT count(*) AS n FROM shop.orders", ([], [], [])),
    ],
)
def test_how_a_table_is_read_is_published(tmp_path, reader, expected):
    two = Two(tmp_path, {"models/revenue.sql": reader})
    two.fetch()
    (read,) = json.loads(published(two.finance))["reads"]

    assert expected == (read["whole"], read["ordered"], read["exact"])


def test_promises_about_what_is_read_are_published_with_it(tmp_path):
    two = Two(tmp_path)
    write(two.shop, EXTRAS)
    for name in ("imports/shop.json", "imports/shop.baseline.json"):
        write(two.finance, {name: published(two.shop, {"TEAM": "x"})})
    write(two.finance, {"models/revenue.sql": "SELECT id, status FROM shop.orders"})
    (read,) = json.loads(published(two.finance))["reads"]

    # Nothing of `amount`, which is protected and not read.
    assert {"required": ["id"]} == read["contract"]
    assert [None, "internal"] == [each.get("classification") for each in read["columns"]]


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"rocky.toml": '[publish]\nname = "${TEAM}"\n[pipeline.shop]\n'}, "`${TEAM}`"),
        (
            {"models/_defaults.toml": '[target]\ncatalog = "${TEAM:-lake}"\nschema = "shop"\n'},
            "`${TEAM:-lake}.shop.orders`",
        ),
        (
            {"models/orders.toml": '[target]\ntable = "o_${TEAM}"\n'},
            "`lake.shop.o_${TEAM}`",
        ),
    ],
)
def test_a_name_that_came_from_a_variable_is_not_published(tmp_path, files, said):
    write(tmp_path, {**SHOP, **files})

    # The second time models come from what was remembered of them.
    for _ in range(2):
        project = load_project(tmp_path, env={"TEAM": "hunter2"}, remember=True)
        compilation = compile_project(project, jobs=1)
        with pytest.raises(InterfaceRefused) as refused:
            publish_interface(
                project,
                compilation.models,
                compilation.models,
                rebinding(compilation),
                classify(compilation),
            )
        assert (True, False) == (said in str(refused.value), "hunter2" in str(refused.value))


def test_a_tag_goes_on_in_the_projects_that_read_the_table(tmp_path):
    two = Two(tmp_path)
    raw = SHOP["sources/raw.toml"].replace(
        'name = "status"', 'classification = "pii", name = "status"'
    )
    assert raw != SHOP["sources/raw.toml"]
    write(two.shop, {"sources/raw.toml": raw})
    two.fetch("imports/shop.baseline.json")
    two.fetch()
    facts = classify(compiled(two.finance))

    columns = {
        column["name"]: column.get("classification")
        for table in json.loads(published(two.shop))["tables"]
        for column in table["columns"]
    }
    assert columns["status"] == "pii"
    assert columns["id"] is None
    assert {each.tag for key in facts for found in facts.table(key).values() for each in found} == {
        "pii"
    }

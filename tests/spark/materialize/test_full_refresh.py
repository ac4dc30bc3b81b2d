import pytest

from rocky.errors import ModelFailed, RowsRefused
from rocky.language.syntax.references import bind_names
from rocky.store.delta.snapshot import WATERMARK
from tests.corpus.asking import shop, spark_answer
from tests.corpus.gaps import ACCEPTED_GAPS
from tests.corpus.questions import questions, recorded_answers, shop_tables

pytestmark = pytest.mark.spark

RELATIONAL = {"ctes", "generators", "joins", "pipes", "set_operations", "subqueries"}
"""Families of the corpus whose queries name tables in more than one way."""


def test_the_whole_table_is_replaced_in_one_commit(bench):
    bench.edit("id INT", "SELECT id, id * 2 AS twice FROM raw.t", 'type = "full_refresh"')
    bench.build((1,), (2,))
    built = bench.build((3,), (3,))

    assert [(3, 6), (3, 6)] == bench.rows()
    assert (1, 2, "replaced") == (len(built.commits), built.rows, built.action)
    assert bench.hash_recorded == bench.hash_again()


def test_a_table_of_other_columns_is_replaced_too(bench):
    bench.edit("id INT", "SELECT id FROM raw.t", 'type = "full_refresh"')
    bench.build((1,))
    bench.edit("id INT", "SELECT CAST(id AS STRING) AS name FROM raw.t", 'type = "full_refresh"')
    bench.build()

    assert ([], ["name"]) == (bench.rows(), [each.name for each in bench.snapshot.schema])


def test_content_addressed_tables_are_partitioned_as_asked(bench):
    bench.edit(
        "id INT, region STRING",
        "SELECT id, region FROM raw.t",
        'type = "content_addressed"\npartition_columns = ["REGION"]',
    )
    bench.build((1, "n"), (2, "s"))

    assert [(1, "n"), (2, "s")] == bench.rows()
    assert ("region",) == bench.snapshot.partition_columns


def test_a_watermark_does_not_survive_another_strategy(bench):
    incremental = 'type = "incremental"\ntimestamp_column = "id"'
    bench.edit("id INT", "SELECT id FROM raw.t", incremental)
    bench.build((5,))
    bench.edit("id INT", "SELECT id FROM raw.t", 'type = "full_refresh"')
    bench.build((1,))
    bench.edit("id INT", "SELECT id FROM raw.t", incremental)
    bench.build((1,), (2,))

    assert [(1,), (2,)] == bench.rows()
    assert '"2"' in bench.snapshot.configuration[WATERMARK]


def test_a_null_the_compiler_ruled_out_leaves_the_previous_version(bench):
    bench.edit("id INT", "SELECT id FROM raw.t", 'type = "full_refresh"')
    bench.build((1,))
    order = bench.order((None,))
    bench.edit("id INT NOT NULL", "SELECT id FROM raw.t", 'type = "full_refresh"')

    with pytest.raises(RowsRefused, match="`id`"):
        bench.build_as(order)
    assert [(1,)] == bench.rows()


def test_a_type_the_compiler_did_not_promise_is_refused(bench):
    bench.edit("id INT", "SELECT id FROM raw.t", 'type = "full_refresh"')
    order = bench.order((1,))
    bench.edit("id BIGINT", "SELECT id FROM raw.t", 'type = "full_refresh"')

    with pytest.raises(ModelFailed, match="column `id`: model `m` was compiled to `bigint`"):
        bench.build_as(order)


def test_bound_queries_have_the_columns_spark_gives_the_author(spark):
    asked = [
        each
        for each in questions()
        if each.family in RELATIONAL and not each.refused and each.id not in ACCEPTED_GAPS
    ]
    wrong = {}
    with shop(spark):
        for name in shop_tables():
            spark.table(name).createOrReplaceTempView(f"bound_{name}")
        for question in asked:
            bound = bind_names(question.sql, lambda parts: f"bound_{parts[-1]}")
            answer = spark_answer(spark, bound)
            if answer != recorded_answers()[question.id]:
                wrong[question.id] = answer
        for name in shop_tables():
            spark.catalog.dropTempView(f"bound_{name}")

    assert {} == wrong

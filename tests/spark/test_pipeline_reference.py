"""The examples of the language's reference give, on Spark, the rows of the SQL beside them."""

from collections import Counter

import pytest

from rocky.language.dsl.lowering import lower_text
from rocky.language.dsl.mapped_text import MappedText
from tests.language.dsl.reference_page import examples, tables

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def shop(spark):
    for name, sql in tables().items():
        spark.sql(sql).createOrReplaceTempView(name)
    yield spark
    for name in tables():
        spark.catalog.dropTempView(name)


def test_every_example_gives_the_rows_of_the_sql_beside_it(shop):
    for each in examples():
        lowered = lower_text(each.pipeline)
        assert isinstance(lowered, MappedText)
        made, meant = shop.sql(lowered.text), shop.sql(each.sql)

        assert meant.columns == made.columns, each.pipeline
        ours, theirs = made.collect(), meant.collect()
        if each.ordered:
            assert theirs == ours, each.pipeline
        else:
            assert Counter(map(str, theirs)) == Counter(map(str, ours)), each.pipeline
        assert [field.dataType for field in meant.schema] == [f.dataType for f in made.schema]

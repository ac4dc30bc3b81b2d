"""What a session without a server answers, refuses and points at."""

import inspect
import os
import socket
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as people write PySpark
from pyspark.sql import types as T  # noqa: N812
from pyspark.sql.connect.session import SparkSession as ConnectSession

from rocky.diagnostics.diagnostic import Diagnostic
from rocky.errors import NothingSelected
from rocky.frames.frame_check import CheckedFrame, Frames
from rocky.frames.session import NeedsRows

SHOP = {
    "orders": "order_id bigint not null, customer_id bigint, amount decimal(12,2), status string",
    "customers": "customer_id bigint not null, name string",
}


def pointed_at(found: Diagnostic) -> str:
    text = Path(str(found.path)).read_text(encoding="utf-8")
    assert found.span is not None
    return text[found.span.start : found.span.end]


def only_error(checked: CheckedFrame) -> Diagnostic:
    assert 1 == len(checked.errors), checked.errors
    return checked.errors[0]


def test_a_misspelt_column_is_found_at_its_text_with_what_was_meant() -> None:
    with Frames(SHOP) as shop:
        found = only_error(shop.check(shop.orders.select("order_id", F.upper(F.col("stauts")))))

    assert "E003" == found.code
    assert "there is a column `status`" == found.help
    assert '"stauts"' == pointed_at(found)
    assert __file__ == found.path


def test_a_misspelt_column_of_a_frame_is_found_at_its_text() -> None:
    with Frames(SHOP) as shop:
        orders = shop.orders
        found = only_error(shop.check(orders.filter(orders["stauts"] == "paid")))

    assert '"stauts"' == pointed_at(found)


def test_a_mistake_in_sql_text_is_found_at_the_text() -> None:
    with Frames(SHOP) as shop:
        found = only_error(shop.check(shop.orders.where("stauts = 'paid'").limit(3)))

    assert "\"stauts = 'paid'\"" == pointed_at(found)


def test_a_mistake_in_a_chain_is_found_at_the_last_call_of_it() -> None:
    with Frames(SHOP) as shop:
        found = only_error(shop.check(shop.orders.limit(3).union(shop.customers)))

    assert pointed_at(found).startswith("union(")


def test_a_column_of_two_frames_is_ambiguous_by_name_and_certain_by_frame() -> None:
    with Frames(SHOP) as shop:
        orders, customers = shop.orders, shop.customers
        joined = orders.join(customers, orders.customer_id == customers.customer_id)
        found = only_error(shop.check(joined.select("customer_id")))
        taken = shop.check(joined.select(customers.customer_id))

    assert "E004" == found.code
    assert "customer_id BIGINT NOT NULL" == taken.schema


def test_a_text_that_is_more_than_an_expression_is_refused() -> None:
    with Frames(SHOP) as shop:
        found = only_error(shop.check(shop.orders.filter("order_id > 1) OR (1 = 1")))

    assert "E009" == found.code


def test_columns_types_and_settings_are_answered_without_a_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    with Frames(SHOP) as shop:
        frame = shop.orders.withColumn("twice", F.col("amount") * 2)

        assert ["order_id", "customer_id", "amount", "status", "twice"] == frame.columns
        assert ("twice", "decimal(14,2)") == frame.dtypes[-1]
        assert T.LongType() == frame.schema["order_id"].dataType
        assert not frame.isStreaming
        assert "UTC" == shop.session.conf.get("spark.sql.session.timeZone")
        assert "DataFrame[customer_id: bigint, name: string]" == repr(shop.customers)


@pytest.mark.parametrize(
    "act",
    [
        lambda frame: frame.count(),
        lambda frame: frame.collect(),
        lambda frame: frame.show(),
        lambda frame: frame.toPandas(),
        lambda frame: frame.first(),
        lambda frame: frame.write.saveAsTable("t"),
        lambda frame: frame.checkpoint(),
    ],
)
def test_what_would_run_a_job_is_refused_at_its_line_with_advice(act) -> None:
    with Frames(SHOP) as shop, pytest.raises(NeedsRows) as refused:
        act(shop.orders)

    assert refused.value.site is not None
    assert inspect.getsourcefile(act) == refused.value.site.path
    assert act.__code__.co_firstlineno == refused.value.site.line
    assert "return the frame" in refused.value.advice


def test_what_cannot_be_known_is_a_gap_with_its_reason_and_no_error() -> None:
    with Frames(SHOP) as shop:
        read = shop.check(shop.session.read.parquet("/nowhere").filter("x > 1"))
        pivoted = shop.check(shop.orders.groupBy("customer_id").pivot("status").count())

    assert () == read.errors + pivoted.errors
    assert not read.known
    assert not pivoted.known
    assert "pass `.schema(...)`" in read.gaps[0].reason
    assert "list them" in pivoted.gaps[0].reason


def test_why_a_frame_is_unknown_is_said_once_however_long_the_chain() -> None:
    with Frames(SHOP) as shop:
        read = shop.session.read.parquet("x").fillna(0).dropDuplicates(["customer_id"])
        joined = shop.orders.join(read, "customer_id")
        found = shop.check(joined.unionByName(joined).drop("status"))
        taken = shop.check(joined.select(shop.orders["order_id"], read["more"]))

    assert () == (*found.errors, *taken.errors)
    assert [1, 1] == [len(found.gaps), len(taken.gaps)]
    assert ["order_id", "more"] == [each.name for each in taken.columns]


def test_a_mistake_is_no_gap_as_well() -> None:
    with Frames(SHOP) as shop:
        keyed = shop.check(shop.orders.join(shop.customers, "custmer_id").select("name"))
        united = shop.check(shop.orders.unionByName(shop.customers).select("name"))
        missing = shop.check(shop.session.table("nobody").join(shop.customers, "customer_id"))

    assert [1, 1, 1] == [len(each.errors) for each in (keyed, united, missing)]
    assert () == (*keyed.gaps, *united.gaps, *missing.gaps)


def test_a_value_that_is_unknown_has_the_name_that_spark_gives_it_or_its_frame_has_none() -> None:
    with Frames(SHOP) as shop:
        orders = shop.orders
        misspelt = shop.check(orders.groupBy("status").agg(F.sum(orders["amuont"])))
        nameless = shop.check(orders.select("order_id", orders.metadataColumn("_m")))
        beside = shop.check(orders.select("stauts", orders.metadataColumn("_m")))
        named = shop.check(orders.select("order_id", orders.metadataColumn("_m").alias("m")))

    assert ["status", "sum(amuont)"] == [each.name for each in misspelt.columns]
    assert ((), False) == (nameless.columns, nameless.known)
    assert "E003" == only_error(beside).code
    assert ["order_id", "m"] == [each.name for each in named.columns]


def test_a_frame_of_tables_has_sql_and_one_of_code_has_none() -> None:
    with Frames(SHOP) as shop:
        plain = shop.check(shop.orders.filter("amount > 1").select("order_id"))
        coded = shop.check(shop.orders.select(F.udf(lambda x: x, "string")("status")))

    assert plain.sql is not None
    assert "SELECT order_id FROM orders WHERE amount > 1" == plain.sql
    assert coded.sql is None


@pytest.mark.parametrize(
    "take",
    [
        lambda: SparkSession.builder.appName("job").master("local[*]").getOrCreate(),
        lambda: SparkSession.builder.remote("sc://nowhere").enableHiveSupport().getOrCreate(),
        lambda: ConnectSession.builder.appName("job").getOrCreate(),
        SparkSession.getActiveSession,
        SparkSession.active,
    ],
)
def test_the_session_that_code_takes_is_that_of_the_plan(take) -> None:
    with Frames(SHOP) as shop:
        assert take() is shop.session


def test_the_settings_of_a_builder_are_those_of_the_session() -> None:
    with Frames(SHOP) as shop:
        SparkSession.builder.config("spark.sql.shuffle.partitions", 8).getOrCreate()
        assert "8" == shop.session.conf.get("spark.sql.shuffle.partitions")


def test_a_builder_is_put_back_as_it_was() -> None:
    before = SparkSession.Builder.getOrCreate
    with Frames(SHOP):
        pass

    assert before is SparkSession.Builder.getOrCreate


def test_names_of_fields_are_shown_as_they_are_written() -> None:
    with Frames({"t": "a array<struct<someField:int>>, m map<string,struct<X:int>>"}) as given:
        found = given.check(given.t)

    assert "a ARRAY<STRUCT<someField:INT>>, m MAP<STRING,STRUCT<X:INT>>" == found.schema


def test_an_error_is_a_line_with_its_place_and_equal_to_one_without() -> None:
    with Frames(SHOP) as shop:
        found = only_error(shop.check(shop.orders.select("amuont")))

    assert found.position is not None
    line = Path(__file__).read_text(encoding="utf-8").splitlines()[found.position[0] - 1]
    assert line[found.position[1] - 1 :].startswith('"amuont"')
    place = f"{__file__}:{found.position[0]}:{found.position[1]}"
    assert f"{place}: E003 no column `amuont` in scope" == str(found)
    assert replace(found, position=None) == found
    assert f"{__file__}: E003 no column `amuont` in scope" == str(replace(found, position=None))


def test_a_table_that_nobody_declares_is_refused_where_it_is_taken() -> None:
    with Frames({**SHOP, "raw.payments": "id bigint"}) as shop:
        with pytest.raises(AttributeError, match=r"no table `ordrs`; did you mean `orders`\?"):
            _ = shop.ordrs
        with pytest.raises(NothingSelected, match=r"did you mean `payments`\?"):
            shop.table("paymnets")
        with pytest.raises(NothingSelected, match=r"no table `raw.nothing_like_it`$"):
            shop.table("raw.nothing_like_it")

        assert "id" == shop.payments.columns[0]
        shop.orders.createOrReplaceTempView("Paid")
        assert "order_id" == shop.paid.columns[0]


def test_what_the_check_sets_up_is_put_back() -> None:
    from pyspark.sql.connect.expressions import Expression  # noqa: PLC0415
    from pyspark.sql.connect.session import SparkSession  # noqa: PLC0415

    before = (Expression.__init__, SparkSession.getActiveSession(), dict(os.environ))
    with Frames(SHOP) as shop:
        shop.check(shop.orders)

    assert before == (Expression.__init__, SparkSession.getActiveSession(), dict(os.environ))


def test_a_function_of_python_is_its_own_whatever_spark_calls_by_its_name() -> None:
    def double(text):
        return text + text

    def select(text):
        return text

    with Frames(SHOP) as shop:
        made = [F.udf(each, "string")("status") for each in (double, select)]
        found = shop.check(shop.orders.select(*made))

    assert () == found.errors
    assert "double(status) STRING, select(status) STRING" == found.schema

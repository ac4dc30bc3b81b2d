"""DataFrame code of every kind, over two tables: what `tools/record_frames.py` asks Spark about.

The name of a function is the case. Each takes a session and two frames.
"""

# ruff: noqa: N812, PLW0108 - as people write PySpark

from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.window import Window

from tests.frames.self_joins import SELF_JOINS

TABLES = {
    "orders": (
        "order_id bigint not null, customer_id bigint, amount decimal(12,2), qty int not null,"
        " price double, status string, paid boolean, tags array<string>, at timestamp, day date,"
        " props map<string,int>, ship struct<city:string,zip:int not null>,"
        " items array<struct<sku:string,n:int>>"
    ),
    "customers": "customer_id bigint not null, name string, country string not null, since date",
}

CASES = dict(SELF_JOINS)


def case(function):
    CASES[function.__name__] = function
    return function


def each(prefix, **frames):
    """Many small cases in one line each: a name and a function of (orders, customers)."""
    for name, make in frames.items():
        CASES[f"{prefix}_{name}"] = lambda spark, o, c, make=make: make(o, c)


each(
    "select",
    names=lambda o, c: o.select("order_id", "status"),
    columns=lambda o, c: o.select(o.order_id, o["status"], F.col("qty")),
    star=lambda o, c: o.select("*", (F.col("qty") * 2).alias("twice")),
    frame_star=lambda o, c: o.select(o["*"]),
    nested=lambda o, c: o.select("ship.city", F.col("ship.zip"), o.ship.city),
    nested_star=lambda o, c: o.select("ship.*"),
    unnamed=lambda o, c: o.select(F.col("qty") + 1, F.upper("status"), F.lit(1), -F.col("qty")),
    twice=lambda o, c: o.select("qty", "qty"),
    expr=lambda o, c: o.selectExpr("qty + 1 as more", "upper(status)", "*"),
    regex=lambda o, c: o.select(o.colRegex("`.*_id`")),
    missing=lambda o, c: o.select("amuont"),
    missing_frame=lambda o, c: o.select(o["amuont"]),
    missing_expr=lambda o, c: o.selectExpr("amuont + 1"),
    literals=lambda o, c: o.select(
        F.lit(1).alias("i"), F.lit(2**40).alias("l"), F.lit(1.5).alias("d"), F.lit("x").alias("s"),
        F.lit(True).alias("b"), F.lit(None).alias("n"), F.lit(b"x").alias("bin"),
    ),
    lateral=lambda o, c: o.select((F.col("qty") + 1).alias("more"), (F.col("more") * 2).alias("most")),
    explode=lambda o, c: o.select("order_id", F.explode("tags")),
    explode_alias=lambda o, c: o.select("order_id", F.explode("tags").alias("tag")),
    explode_map=lambda o, c: o.select(F.explode("props"), "qty"),
    explode_map_alias=lambda o, c: o.select(F.explode("props").alias("k", "v")),
    posexplode=lambda o, c: o.select("qty", F.posexplode("tags")),
    explode_outer=lambda o, c: o.select(F.explode_outer("tags").alias("t")),
    inline=lambda o, c: o.select(F.inline("items")),
    explode_twice=lambda o, c: o.select(F.explode("tags"), F.explode("tags")),
    explode_thrice=lambda o, c: o.select(
        F.posexplode("tags"), "qty", F.explode("props"), F.explode_outer("tags").alias("value"), "*"
    ),
    explode_twice_over=lambda o, c: o.select(
        F.explode("tags"), F.explode("tags")
    ).toDF("one", "other").select("other"),
)  # fmt: skip

each(
    "op",
    arithmetic=lambda o, c: o.select(
        (o.qty + o.price).alias("a"), (o.amount * o.qty).alias("b"), (o.amount / 3).alias("c"),
        (o.qty % 2).alias("d"), (o.amount - 1.5).alias("e"), (2 - o.qty).alias("f"), (o.qty**2).alias("g"),
    ),
    compare=lambda o, c: o.select(
        (o.qty > 1).alias("a"), (o.qty == o.order_id).alias("b"), (o.status != "x").alias("c"),
        o.status.eqNullSafe("x").alias("d"), (~o.paid).alias("e"), (o.paid & (o.qty < 2)).alias("f"),
        (o.paid | F.lit(False)).alias("g"),
    ),
    nulls=lambda o, c: o.select(o.status.isNull().alias("a"), o.status.isNotNull().alias("b"), F.isnan("price").alias("c")),
    text=lambda o, c: o.select(
        o.status.like("a%").alias("a"), o.status.rlike("a").alias("b"), o.status.startswith("a").alias("c"),
        o.status.contains("a").alias("d"), o.status.substr(1, 2).alias("e"), o.status.ilike("A%").alias("f"),
    ),
    isin=lambda o, c: o.select(o.status.isin("a", "b").alias("a"), o.qty.isin([1, 2]).alias("b")),
    between=lambda o, c: o.select(o.qty.between(1, 3).alias("a")),
    when=lambda o, c: o.select(
        F.when(o.qty > 1, "many").when(o.qty == 1, "one").otherwise("none").alias("a"),
        F.when(o.qty > 1, o.amount).alias("b"), F.when(o.paid, 1).otherwise(o.price),
    ),
    cast=lambda o, c: o.select(
        o.qty.cast("string"), o.status.cast(T.IntegerType()).alias("a"), o.status.try_cast("int").alias("b"),
        o.at.cast("date").alias("c"), o.amount.cast("decimal(20,4)").alias("d"), o.ship.cast("string").alias("e"),
    ),
    bits=lambda o, c: o.select(o.qty.bitwiseAND(1).alias("a"), o.qty.bitwiseOR(2).alias("b"), F.bitwise_not("qty").alias("c")),
    items=lambda o, c: o.select(
        o.tags[0].alias("a"), o.tags.getItem(1).alias("b"), o.props["k"].alias("c"), o.ship["city"].alias("d"),
        o.ship.getField("zip").alias("e"), o.items[0]["sku"].alias("f"), o["items"]["sku"].alias("g"),
    ),
    item_names=lambda o, c: o.select(o.tags[0], o.props["k"], o.ship["city"], o.ship.getField("zip")),
    bad_types=lambda o, c: o.select(o.tags + 1),
    bad_argument=lambda o, c: o.select(F.upper(o.tags)),
    bad_function=lambda o, c: o.select(F.call_function("no_such_function", o.qty)),
)  # fmt: skip

each(
    "fields",
    with_field=lambda o, c: o.select(o.ship.withField("lat", F.lit(1.5)).alias("s")),
    replace_field=lambda o, c: o.select(o.ship.withField("city", F.lit(1)).alias("s")),
    drop_field=lambda o, c: o.select(o.ship.dropFields("city").alias("s")),
    struct=lambda o, c: o.select(F.struct("qty", o.status, (o.qty + 1).alias("n")).alias("s")),
    named=lambda o, c: o.select(F.named_struct(F.lit("a"), o.qty).alias("s")),
    array=lambda o, c: o.select(
        F.array("qty", "order_id").alias("a"), F.array(F.lit(1)).alias("b")
    ),
    create_map=lambda o, c: o.select(F.create_map(F.lit("k"), o.qty).alias("m")),
)

each(
    "columns",
    add=lambda o, c: o.withColumn("twice", o.qty * 2),
    replace=lambda o, c: o.withColumn("QTY", o.qty.cast("string")),
    several=lambda o, c: o.withColumns({"a": o.qty + 1, "qty": F.lit(None).cast("int"), "b": F.lit(1)}),
    rename=lambda o, c: o.withColumnRenamed("qty", "n").withColumnRenamed("nothing", "x"),
    rename_several=lambda o, c: o.withColumnsRenamed({"qty": "n", "status": "s"}),
    drop=lambda o, c: o.drop("qty", "nothing"),
    drop_column=lambda o, c: o.drop(o.qty, F.col("status")),
    to_df=lambda o, c: c.toDF("a", "b", "c", "d"),
    to_df_short=lambda o, c: c.toDF("a"),
    to=lambda o, c: c.select("customer_id", "name").to(
        T.StructType([T.StructField("name", T.StringType()), T.StructField("customer_id", T.LongType())])
    ),
    loop=lambda o, c: _cast_all(c),
    by_schema=lambda o, c: c.select([f.name for f in c.schema.fields if f.dataType == T.StringType()]),
)  # fmt: skip


def _cast_all(frame):
    for name in frame.columns:
        frame = frame.withColumn(name, F.col(name).cast("string"))
    return frame


each(
    "filter",
    column=lambda o, c: o.filter(o.qty > 1),
    text=lambda o, c: o.where("qty > 1 and status = 'x'"),
    behind_select=lambda o, c: o.select("order_id").filter(o.qty > 1),
    behind_select_name=lambda o, c: o.select("order_id").filter("qty > 1"),
    behind_rename=lambda o, c: o.withColumnRenamed("qty", "n").filter(o.qty > 1),
    not_boolean=lambda o, c: o.filter(o.qty + 1),
    missing=lambda o, c: o.filter("amuont > 1"),
    sort_behind=lambda o, c: o.select("order_id").orderBy("qty", F.desc("amount")),
    sort=lambda o, c: o.sort(o.qty.desc_nulls_last(), "status"),
    sort_within=lambda o, c: o.sortWithinPartitions("qty"),
    limit=lambda o, c: o.limit(3).offset(1),
    sample=lambda o, c: o.sample(0.1),
    distinct=lambda o, c: o.select("status", "qty").distinct(),
    dedupe=lambda o, c: o.dropDuplicates(["status"]),
    dedupe_missing=lambda o, c: o.dropDuplicates(["stauts"]),
    hint=lambda o, c: o.hint("broadcast").repartition(3).coalesce(1),
    alias=lambda o, c: o.alias("o").filter("o.qty > 1").select("o.status", F.col("o.qty")),
    alias_text=lambda o, c: (
        o.alias("o").withColumn("x", F.expr("o.qty + 1")).selectExpr("o.qty", "x")
    ),
)

each(
    "join",
    using=lambda o, c: o.join(c, "customer_id"),
    using_left=lambda o, c: o.join(c, ["customer_id"], "left"),
    using_right=lambda o, c: o.join(c, "customer_id", "right"),
    using_full=lambda o, c: o.join(c, "customer_id", "outer"),
    using_semi=lambda o, c: o.join(c, "customer_id", "semi"),
    using_anti=lambda o, c: o.join(c, "customer_id", "left_anti"),
    using_missing=lambda o, c: o.join(c, "custmer_id"),
    using_other_side=lambda o, c: o.join(c, "customer_id").select(c.customer_id, o.customer_id, c.name),
    using_other_left=lambda o, c: o.join(c, "customer_id", "left").select(c.customer_id, "customer_id"),
    on=lambda o, c: o.join(c, o.customer_id == c.customer_id),
    on_left=lambda o, c: o.join(c, o.customer_id == c.customer_id, "left"),
    on_then_pick=lambda o, c: o.join(c, o.customer_id == c.customer_id).select(o.customer_id, c.customer_id, "name"),
    on_then_drop=lambda o, c: o.join(c, o.customer_id == c.customer_id).drop(c.customer_id).select("customer_id"),
    on_then_ambiguous=lambda o, c: o.join(c, o.customer_id == c.customer_id).select("customer_id"),
    on_then_group=lambda o, c: o.join(c, o.customer_id == c.customer_id, "left").groupBy(c.customer_id).count(),
    on_text=lambda o, c: o.alias("o").join(c.alias("c"), F.expr("o.customer_id = c.customer_id")).selectExpr("o.customer_id", "c.name"),
    aliased_pick=lambda o, c: o.alias("o").join(c.alias("c"), F.col("o.customer_id") == F.col("c.customer_id"), "left").select("o.*", "c.name"),
    self=lambda o, c: o.alias("a").join(o.alias("b"), F.col("a.order_id") == F.col("b.customer_id")).select("a.order_id", "b.qty"),
    self_filtered=lambda o, c: o.filter("qty > 1").join(o, "order_id"),
    cross=lambda o, c: o.select("qty").crossJoin(c.select("name")),
    no_condition=lambda o, c: o.select("qty").join(c.select("name")),
    several=lambda o, c: o.join(c, (o.customer_id == c.customer_id) & (o.day >= c.since), "inner").select("order_id", "since"),
    broadcast=lambda o, c: o.join(F.broadcast(c), "customer_id", "left").select("order_id", "country"),
    foreign=lambda o, c: o.select(c.name),
    lost=lambda o, c: o.withColumn("qty", o.qty + 1).select(o.qty),
    three=lambda o, c: o.join(c, "customer_id").join(c.withColumnRenamed("name", "other"), "customer_id").select("other", "name"),
)  # fmt: skip

each(
    "group",
    count=lambda o, c: o.groupBy("status").count(),
    agg=lambda o, c: o.groupBy("status", o.qty).agg(F.sum("amount").alias("s"), F.avg("qty"), F.max("day"), F.count("*")),
    mapping=lambda o, c: o.groupBy("status").agg({"qty": "sum", "amount": "max"}),
    shortcut=lambda o, c: o.groupBy("status").sum("qty", "price"),
    by_expression=lambda o, c: o.groupBy((o.qty % 2).alias("odd"), F.year("day")).agg(F.count_distinct("status").alias("n")),
    overall=lambda o, c: o.agg(F.sum("qty").alias("s"), F.min("status")),
    overall_count=lambda o, c: o.groupBy().count(),
    filtered=lambda o, c: o.groupBy("status").agg(F.sum("qty").alias("s")).filter("s > 1"),
    rollup=lambda o, c: o.rollup("status", "qty").agg(F.sum("amount").alias("s"), F.grouping_id().alias("g")),
    cube=lambda o, c: o.cube("status").count(),
    pivot=lambda o, c: o.groupBy("qty").pivot("status", ["a", "b"]).agg(F.sum("amount")),
    pivot_several=lambda o, c: o.groupBy("qty").pivot("status", ["a", "b"]).agg(F.sum("amount").alias("s"), F.count("*").alias("n")),
    pivot_count=lambda o, c: o.groupBy("status").pivot("qty", [1, 2]).count(),
    collect=lambda o, c: o.groupBy("status").agg(F.collect_list("qty").alias("l"), F.collect_set("status").alias("s"), F.first("qty").alias("f")),
    not_grouped=lambda o, c: o.groupBy("status").agg(F.col("qty")),
    nested=lambda o, c: o.agg(F.sum(F.max("qty"))),
    missing=lambda o, c: o.groupBy("stauts").count(),
    grouping_sets=lambda o, c: o.groupingSets([["status"], []], "status").agg(F.sum("qty").alias("s")),
)  # fmt: skip

each(
    "window",
    row_number=lambda o, c: o.select("order_id", F.row_number().over(Window.partitionBy("status").orderBy("at")).alias("n")),
    running=lambda o, c: o.withColumn("s", F.sum("amount").over(Window.partitionBy("status").orderBy("day").rowsBetween(Window.unboundedPreceding, 0))),
    lag=lambda o, c: o.select(F.lag("qty").over(Window.orderBy("at")).alias("a"), F.lead("qty", 2, 0).over(Window.orderBy("at")).alias("b")),
    rank=lambda o, c: o.select(F.rank().over(Window.orderBy(o.qty.desc())).alias("a"), F.ntile(4).over(Window.orderBy("qty")).alias("b"), F.percent_rank().over(Window.orderBy("qty")).alias("c")),
    range=lambda o, c: o.select(F.avg("price").over(Window.orderBy("qty").rangeBetween(-3, 3)).alias("a")),
    whole=lambda o, c: o.select(F.count("*").over(Window.partitionBy("status")).alias("a")),
    no_order=lambda o, c: o.select(F.row_number().over(Window.partitionBy("status")).alias("n")),
)  # fmt: skip

each(
    "lambda",
    transform=lambda o, c: o.select(F.transform("tags", lambda x: F.upper(x)).alias("a"), F.transform("tags", lambda x, i: F.concat(x, i.cast("string"))).alias("b")),
    filter=lambda o, c: o.select(F.filter("tags", lambda x: x != "a").alias("a"), F.exists("tags", lambda x: x == "a").alias("b")),
    aggregate=lambda o, c: o.select(F.aggregate("tags", F.lit(0), lambda acc, x: acc + F.length(x)).alias("a")),
    maps=lambda o, c: o.select(F.map_filter("props", lambda k, v: v > 1).alias("a"), F.transform_values("props", lambda k, v: v + 1.5).alias("b")),
    structs=lambda o, c: o.select(F.transform("items", lambda x: x["n"] + 1).alias("a"), F.transform("items", lambda x: F.struct(x.sku.alias("s"))).alias("b")),
    outer=lambda o, c: o.select(F.transform("items", lambda x: x.n * o.qty).alias("a")),
)  # fmt: skip

each(
    "set",
    union=lambda o, c: o.select("qty", "status").union(o.select("order_id", "status")),
    union_widths=lambda o, c: o.select("qty", "status").union(o.select("qty")),
    union_types=lambda o, c: o.select("tags").union(o.select("qty")),
    by_name=lambda o, c: o.select("qty", "status").unionByName(o.select("status", "qty")),
    by_name_missing=lambda o, c: o.select("qty", "status").unionByName(c.select("name", F.lit("x").alias("status")), allowMissingColumns=True),
    by_name_refused=lambda o, c: o.select("qty").unionByName(c.select("name")),
    intersect=lambda o, c: o.select("customer_id").intersect(c.select("customer_id")),
    subtract=lambda o, c: o.select("customer_id").subtract(c.select("customer_id")),
    except_all=lambda o, c: o.select("customer_id").exceptAll(c.select("customer_id")),
    then_pick=lambda o, c: _union_pick(o),
)  # fmt: skip


def _union_pick(o):
    first = o.select("qty", "status")
    return first.union(o.select("qty", "status")).select(first.qty)


each(
    "na",
    fill_number=lambda o, c: o.fillna(0),
    fill_text=lambda o, c: o.fillna("x"),
    fill_bool=lambda o, c: o.fillna(False),
    fill_subset=lambda o, c: o.fillna(0, ["price", "status"]),
    fill_map=lambda o, c: o.fillna({"status": "none", "price": 1.5, "amount": 0}),
    fill_missing=lambda o, c: o.fillna(0, ["prise"]),
    drop=lambda o, c: o.dropna(),
    drop_subset=lambda o, c: o.dropna(subset=["status"]),
    drop_thresh=lambda o, c: o.na.drop(thresh=2),
    replace=lambda o, c: o.replace("a", "b"),
    replace_numbers=lambda o, c: o.replace({1: 2}, subset=["qty", "price"]),
)

each(
    "shape",
    unpivot=lambda o, c: o.unpivot("order_id", ["qty", "price"], "what", "value"),
    melt=lambda o, c: o.select("order_id", "qty", "customer_id").melt(
        ["order_id"], None, "what", "value"
    ),
    describe=lambda o, c: o.describe(),
    describe_columns=lambda o, c: o.describe("qty", "status"),
    summary=lambda o, c: c.summary(),
)


@case
def sql_query(spark, o, c):
    return spark.sql("select status, sum(qty) as s from orders group by status")


@case
def sql_arguments(spark, o, c):
    return spark.sql(
        "select qty + :more as n from orders where qty > :least", args={"more": 1.5, "least": 2}
    )


@case
def sql_frames(spark, o, c):
    return spark.sql(
        "select o.qty, c.name from {o} o join {c} c on o.customer_id = c.customer_id",
        o=o.filter("qty > 1"),
        c=c,
    )


@case
def sql_view(spark, o, c):
    o.filter("qty > 1").createOrReplaceTempView("many")
    return spark.sql("select qty, status from many").join(
        spark.table("many").select("status"), "status"
    )


@case
def sql_missing_table(spark, o, c):
    return spark.table("ordres")


@case
def made_rows(spark, o, c):
    return spark.createDataFrame([(1, "a"), (2, None)], "id int not null, name string").join(
        c, "name"
    )


@case
def made_rows_inferred(spark, o, c):
    return spark.createDataFrame([(1, "a", 1.5), (2, "b", None)], ["id", "name", "x"])


@case
def made_range(spark, o, c):
    return spark.range(10).withColumn("x", F.col("id") * 2)


@case
def udf_types(spark, o, c):
    slug = F.udf(lambda s: s, "string")
    size = F.udf(lambda s: len(s), T.IntegerType())
    return o.select(slug("status").alias("a"), size(o.status).alias("b"), slug(F.upper("status")))


@case
def udf_struct(spark, o, c):
    both = F.udf(lambda s: (s, 1), "s string, n int")
    return o.select(both("status").alias("x")).select("x.s", "x.n")


@case
def udf_pandas(spark, o, c):
    @F.pandas_udf("double")
    def half(x: "pd.Series") -> "pd.Series":  # noqa: F821
        return x / 2

    return o.select(half("price").alias("h"))


@case
def udf_map_in_pandas(spark, o, c):
    return (
        o.select("qty")
        .mapInPandas(lambda frames: frames, "qty long, more string not null")
        .filter("qty > 1")
    )


@case
def udf_apply_in_pandas(spark, o, c):
    return o.groupBy("status").applyInPandas(lambda frame: frame, "status string, n long")


@case
def model_of_many_steps(spark, o, c):
    paid = o.filter(F.col("paid")).withColumn(
        "net", F.col("amount") - F.coalesce(F.col("price"), F.lit(0.0))
    )
    ranked = paid.withColumn(
        "rank", F.rank().over(Window.partitionBy("customer_id").orderBy(F.col("net").desc()))
    )
    top = ranked.filter("rank <= 3").drop("rank").join(c, "customer_id", "left")
    totals = top.groupBy("country").agg(
        F.sum("net").alias("total"), F.countDistinct("customer_id").alias("people")
    )
    return totals.withColumn(
        "share", F.round(F.col("total") / F.sum("total").over(Window.partitionBy()), 4)
    ).orderBy(F.desc("total"))


each(
    "apart",
    exists=lambda o, c: c.alias("c").where(
        o.alias("o").where(F.col("o.customer_id") == F.col("c.customer_id").outer()).exists()
    ),
    not_exists=lambda o, c: c.alias("c").where(
        ~o.where(F.col("customer_id") == F.col("c.customer_id").outer()).exists()
    ),
    scalar=lambda o, c: c.select("name", o.select(F.max("amount")).scalar().alias("most")),
    scalar_of_row=lambda o, c: o.alias("a").where(
        F.col("a.price")
        > o.alias("b")
        .where(F.col("b.status") == F.col("a.status").outer())
        .select(F.avg("price"))
        .scalar()
    ),
    lateral=lambda o, c: c.alias("c").lateralJoin(
        o.alias("o")
        .where(F.col("o.customer_id") == F.col("c.customer_id").outer())
        .select("order_id", "ship")
        .limit(2)
    ),
    lateral_left=lambda o, c: c.alias("c").lateralJoin(
        o.where(F.col("customer_id") == F.col("c.customer_id").outer()).select("qty"), how="left"
    ),
    lateral_missing=lambda o, c: c.lateralJoin(o.where(F.col("nobody").outer() == 1)),
    as_of=lambda o, c: o._joinAsOf(c, o.day, c.since),
    as_of_by_name=lambda o, c: o._joinAsOf(c, "day", "since", on="customer_id", how="left"),
)
each(
    "field",
    with_new=lambda o, c: o.select(F.col("ship").withField("more", F.lit(1)).alias("s")),
    with_changed=lambda o, c: o.select(F.col("ship").withField("zip", F.lit("x")).alias("s")),
    dropped=lambda o, c: o.select(F.col("ship").dropFields("zip").alias("s")),
    deep=lambda o, c: o.select(F.struct("ship", "qty").alias("a")).select(
        F.col("a").withField("ship.city", F.lit(1)).alias("a")
    ),
    deep_dropped=lambda o, c: o.select(F.struct("ship", "qty").alias("a")).select(
        F.col("a").dropFields("ship.city").alias("a")
    ),
    star_twice=lambda o, c: o.select("ship.*", "ship.*", "qty"),
)
each(
    "made",
    inline_taken=lambda o, c: o.select("order_id", F.lit(1).alias("sku"), F.inline("items")),
    frequent=lambda o, c: o.freqItems(["qty", "status", "tags"]),
    product=lambda o, c: o.select(F.product("qty"), F.product("amount")),
    units=lambda o, c: o.select(
        F.timestamp_add("day", F.lit(1), "at"), F.timestamp_diff("hour", "at", "at")
    ),
    keywords=lambda o, c: o.select(
        *[F.col("qty").alias(name) for name in ("regexp", "xor", "lock", "alter", "returning")]
    ).select("regexp", "xor", "lock", "alter", "returning"),
    seeds=lambda o, c: o.select(F.rand(7), F.randn(3)),
)


@case
def registered_function(spark, o, c):
    spark.udf.register("sluggish", lambda s: s, "string")
    return spark.sql("select sluggish(status), qty from orders").union(
        o.select(F.call_function("sluggish", "status"), "qty")
    )


@case
def global_view(spark, o, c):
    o.select("qty").createOrReplaceGlobalTempView("quantities")
    return spark.sql("select qty + 1 from global_temp.quantities")


@case
def view_of_sql(spark, o, c):
    spark.sql("create or replace temp view big as select qty, ship from orders where qty > 1")
    return spark.table("big").select("ship.city", "qty")


@case
def sql_arguments_beside_quotes(spark, o, c):
    return spark.sql(
        "select :low as low, ':low' as text, qty -- :low\n from orders where qty > :low",
        args={"low": 3},
    )


@case
def table_function_of_python(spark, o, c):
    @F.udtf(returnType="a int, b string")
    class Both:
        def eval(self, x: int):
            yield x, "b"

    return Both(F.lit(1)).select("b", "a")


@case
def named_arguments_of_a_function(spark, o, c):
    both = F.udf(lambda a, b: a, "int")
    return o.select(both(b=F.col("qty"), a=F.col("qty")).alias("x"))


each(
    "rows",
    union_all=lambda o, c: o.select("qty").unionAll(c.select("customer_id")),
    drop_duplicates=lambda o, c: o.drop_duplicates(["status"]).select("qty"),
    observed=lambda o, c: o.observe("seen", F.count(F.lit(1)).alias("n")),
    ambiguous_drop=lambda o, c: o.join(c, o.customer_id == c.customer_id).drop(
        F.col("customer_id")
    ),
    time_is_off=lambda o, c: o.select(F.lit("10:00:00").cast("time")),
    plain_operators=lambda o, c: o.select(
        ((F.col("qty") + 1) * 2 - (F.col("qty") - (F.col("qty") - 1))).alias("a"),
        (~(F.col("paid") | F.col("status").isNull()) & (F.col("qty") > 1)).alias("b"),
        (-(F.col("qty") + 1) % 3).alias("c"),
        ((F.col("qty") > 1) == F.col("paid")).alias("d"),
        (F.col("status").isin("a", "b") == F.lit(True)).alias("e"),
        F.expr("qty > 1 or paid") & F.col("paid"),
    ),
)


def _pivoted(*aggregates):
    return lambda spark, o, c: (
        o.groupBy("customer_id").pivot("status", ["paid", "open"]).agg(*map(F.expr, aggregates))
    )


for _at in ("qty", "amount", "price", "paid", "status", "day", "at", "tags", "ship"):
    CASES[f"pivot_first_{_at}"] = _pivoted(f"first({_at}) as x")
    CASES[f"pivot_count_beside_{_at}"] = _pivoted(f"first({_at}) as x", "count(qty) as n")
for _how in ("collect_list(qty)", "collect_set(status)", "count(distinct qty)", "max(struct(qty))"):
    CASES[f"pivot_{_how}"] = _pivoted(f"{_how} as x", "count(1) as n", "max(qty) as most")

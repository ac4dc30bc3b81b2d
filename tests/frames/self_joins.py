"""Frames joined with frames of the same origin: which columns Spark takes from which side.

Every pair of sides with every use of their columns. Joins are left ones, so that the nullability
of `order_id` and `qty` tells the side that a column is of.
"""

# ruff: noqa: N812, E741, PLC3002 - as people write PySpark, one line a case

from pyspark.sql import functions as F


def _computed(o):
    return o.withColumn("more", F.col("qty") + 1)


def _twice(make):
    def both(o):
        frame = make(o)
        return frame, frame.filter("qty > 1")

    return both


SIDES = {
    "itself": lambda o: (o, o),
    "filter": lambda o: (o, o.filter("qty > 1")),
    "filter_first": lambda o: (o.filter("qty > 1"), o),
    "filters": lambda o: (o.filter("qty > 1"), o.filter("qty < 1")),
    "select": lambda o: (o, o.select("order_id", "qty")),
    "select_first": lambda o: (o.select("order_id", "qty", "customer_id"), o),
    "with_column": lambda o: (o, _computed(o)),
    "replaced": lambda o: (o, o.withColumn("qty", F.col("qty") + 1)),
    "replaced_key": lambda o: (o, o.withColumn("order_id", F.col("order_id") + 1)),
    "renamed": lambda o: (o, o.withColumnRenamed("status", "state")),
    "aggregate": lambda o: (o, o.groupBy("order_id").agg(F.max("qty").alias("qty"))),
    "aggregate_first": lambda o: (
        o.groupBy("order_id").agg(F.max("qty").alias("qty"), F.max("customer_id").alias("customer_id")),
        o,
    ),
    "aggregate_only": lambda o: (
        o,
        o.agg(F.max("qty").alias("qty"), F.max("order_id").alias("order_id")),
    ),
    "limit": lambda o: (o, o.limit(3)),
    "distinct": lambda o: (o, o.select("order_id", "qty").distinct()),
    "sorted": lambda o: (o, o.orderBy("qty")),
    "union": lambda o: (o, o.union(o)),
    "union_first": lambda o: (o.union(o), o),
    "computed": _twice(_computed),
    "grouped": _twice(
        lambda o: o.groupBy("order_id", "customer_id").agg(F.max("qty").alias("qty"))
    ),
    "grouped_again": lambda o: (
        _computed(o),
        _computed(o).groupBy("order_id").agg(F.max("more").alias("qty")),
    ),
    "aliases": lambda o: (o.alias("l"), o.alias("r")),
    "alias": lambda o: (o, o.filter("qty > 1").alias("r")),
    "exploded": lambda o: (o, o.select("order_id", "qty", F.explode("tags").alias("tag"))),
    "joined": lambda o: (
        o,
        o.filter("qty > 1").alias("x").join(o.alias("y"), F.col("x.qty") == F.col("y.qty"))
        .select(F.col("x.order_id"), F.col("y.qty")),
    ),
    "deep": lambda o: (o.filter("qty > 1").select("order_id", "qty", "customer_id"), o.limit(2).filter("paid")),
}  # fmt: skip

USES = {
    "select_left": lambda j, l, r, c: j.select(l["order_id"]),
    "select_right": lambda j, l, r, c: j.select(r["order_id"]),
    "select_left_qty": lambda j, l, r, c: j.select(l["qty"]),
    "select_right_qty": lambda j, l, r, c: j.select(r["qty"]),
    "expression": lambda j, l, r, c: j.select((l.qty + 1).alias("x")),
    "filter_left": lambda j, l, r, c: j.filter(l.qty > 1).select(F.lit(1)),
    "filter_right": lambda j, l, r, c: j.filter(r.qty > 1).select(F.lit(1)),
    "with_left": lambda j, l, r, c: j.withColumn("new", l.order_id).select("new"),
    "with_right": lambda j, l, r, c: j.withColumn("new", r.order_id).select("new"),
    "group_left": lambda j, l, r, c: j.groupBy(l.order_id).count(),
    "group_right": lambda j, l, r, c: j.groupBy(r.order_id).agg(F.lit(1).alias("n")),
    "sum_right": lambda j, l, r, c: j.groupBy().agg(F.sum(r.qty).alias("n")),
    "order_left": lambda j, l, r, c: j.orderBy(l.qty).select(F.lit(1)),
    "order_right": lambda j, l, r, c: j.orderBy(r.qty).select(F.lit(1)),
    "drop_left": lambda j, l, r, c: j.drop(l.order_id).select("order_id"),
    "drop_right": lambda j, l, r, c: j.drop(r.order_id).select("order_id"),
    "star_left": lambda j, l, r, c: j.select(l["*"]).select("order_id"),
    "star_right": lambda j, l, r, c: j.select(r["*"]).select("order_id"),
    "join_left": lambda j, l, r, c: j.join(c, l.order_id == c.id).select("land"),
    "join_right": lambda j, l, r, c: j.join(c, r.order_id == c.id).select("land"),
    "later": lambda j, l, r, c: j.filter("country is null").select(l.qty),
    "by_name": lambda j, l, r, c: j.select("qty"),
}

CONDITIONS = {
    "equal": lambda l, r: l.order_id == r.order_id,
    "equal_turned": lambda l, r: r.order_id == l.order_id,
    "equal_null": lambda l, r: l.order_id.eqNullSafe(r.order_id),
    "two": lambda l, r: (l.order_id == r.order_id) & (l.qty == r.qty),
    "two_listed": lambda l, r: [l.order_id == r.order_id, l.qty == r.qty],
    "either": lambda l, r: (l.order_id == r.order_id) | (l.qty == r.qty),
    "less": lambda l, r: l.qty < r.qty,
    "equal_and_less": lambda l, r: (l.order_id == r.order_id) & (l.qty < r.qty),
    "shifted": lambda l, r: l.order_id == r.order_id + 1,
    "crossed": lambda l, r: l.order_id == r.qty,
    "one_sided": lambda l, r: l.qty > 1,
}


def _used(sides, use):
    def make(spark, o, c):
        left, right = sides(o)
        # A column that no side has, so that a layer lies between.
        joined = left.join(right, left.order_id == right.order_id, "left").withColumn(
            "country", F.lit("x")
        )
        return use(joined, left, right, c.select("customer_id", "country").toDF("id", "land"))

    return make


def _conditioned(sides, condition):
    def make(spark, o, c):
        left, right = sides(o)
        return left.join(right, condition(left, right), "left").select(F.lit(1))

    return make


SELF_JOINS = {
    f"self_{name}_{use}": _used(sides, USES[use]) for name, sides in SIDES.items() for use in USES
} | {
    f"self_{name}_on_{condition}": _conditioned(sides, CONDITIONS[condition])
    for name, sides in SIDES.items()
    for condition in CONDITIONS
}


def _semi(o, c):
    a = o.filter("qty > 1")
    return o.join(a, o.order_id == a.order_id, "left_semi")


def _named(o, how="left"):
    a = o.filter("qty > 1")
    return o, a, o.join(a, "order_id", how)


def _apart(o):
    return o.select("order_id", "qty").toDF("id", "much")


def _three(o):
    a, b = o.filter("qty > 1"), o.filter("qty > 2")
    return a, b, o.join(a, o.order_id == a.order_id).join(b, o.order_id == b.order_id)


def _inner(o):
    a, b = o.filter("qty > 1"), o.filter("qty > 2")
    joined = a.join(b, a.order_id == b.order_id)
    return joined.select(a.order_id.alias("a_id"), F.lit(1).alias("one"))


OTHERS = {
    "semi_left": lambda s, o, c: _semi(o, c).select(o.qty),
    "semi_filter": lambda s, o, c: _semi(o, c).filter(o.qty > 1).select("qty"),
    "named_left": lambda s, o, c: (lambda o, a, j: j.select(o.qty))(*_named(o)),
    "named_right": lambda s, o, c: (lambda o, a, j: j.select(a.qty))(*_named(o)),
    "named_key": lambda s, o, c: (lambda o, a, j: j.select(o.order_id))(*_named(o)),
    "named_key_right": lambda s, o, c: (lambda o, a, j: j.select(a.order_id))(*_named(o)),
    "named_drop": lambda s, o, c: (lambda o, a, j: j.drop(a.qty).select("qty"))(*_named(o)),
    "named_plain": lambda s, o, c: _named(o)[2].select("order_id"),
    "names_apart": lambda s, o, c: o.join(_apart(o), o.order_id == F.col("id"), "left").select(
        "order_id", "much"
    ),
    "names_apart_left": lambda s, o, c: o.join(
        _apart(o), o.order_id == F.col("id"), "left"
    ).select(o.qty),
    "names_apart_on_left": lambda s, o, c: (
        lambda p: o.join(p, o.order_id == p.id, "left").select(p.much)
    )(_apart(o)),
    "three_first": lambda s, o, c: _three(o)[2].select(o.qty),
    "three_second": lambda s, o, c: (lambda a, b, j: j.select(a.qty))(*_three(o)),
    "three_third": lambda s, o, c: (lambda a, b, j: j.select(b.qty))(*_three(o)),
    "two_reads": lambda s, o, c: (
        lambda a, b: a.join(b, a.order_id == b.order_id, "left").select(a.order_id, b.qty)
    )(s.table("orders"), s.table("orders")),
    "two_reads_left": lambda s, o, c: (
        lambda a, b: a.join(b, a.order_id == b.order_id, "left").select(a.qty)
    )(s.table("orders"), s.table("orders")),
    "broadcast_left": lambda s, o, c: (
        lambda a: o.join(F.broadcast(a), o.order_id == a.order_id, "left").select(o.qty)
    )(o.filter("qty > 1")),
    "broadcast_right": lambda s, o, c: (
        lambda a: o.join(F.broadcast(a), o.order_id == a.order_id, "left").select(a.qty)
    )(o.filter("qty > 1")),
    "gone_filter": lambda s, o, c: (
        lambda a: o.join(a, o.order_id == a.order_id, "left").select(F.lit(1)).filter(a.qty > 1)
    )(o.filter("qty > 1")),
    "view_reads_left": lambda s, o, c: (
        o.createOrReplaceTempView("seen"),
        (lambda a, b: a.join(b, a.order_id == b.order_id, "left").select(a.qty))(
            s.table("seen"), s.table("seen")
        ),
    )[1],
    "view_reads_right": lambda s, o, c: (
        o.createOrReplaceTempView("seen"),
        (lambda a, b: a.join(b, a.order_id == b.order_id, "left").select(b.qty))(
            s.table("seen"), s.table("seen")
        ),
    )[1],
    "negated": lambda s, o, c: (
        lambda a: o.join(a, ~(o.order_id == a.order_id), "left").select(F.lit(1))
    )(o.filter("qty > 1")),
    "pair_below": lambda s, o, c: (
        lambda a: o.join(a, o.order_id == a.order_id).groupBy(o.order_id == a.order_id).count()
    )(o.filter("qty > 1")),
    "two_reads_right": lambda s, o, c: (
        lambda a, b: a.join(b, a.order_id == b.order_id, "left").select(b.qty)
    )(s.table("orders"), s.table("orders")),
    "read_and_frame": lambda s, o, c: (
        lambda b: o.join(b, o.order_id == b.order_id, "left").select(b.qty)
    )(s.table("orders")),
    "union_own": lambda s, o, c: o.union(o.filter("qty > 1")).select(o.qty),
    "union_second": lambda s, o, c: (lambda a: o.union(a).select(a.qty))(o.filter("qty > 1")),
    "union_of_both": lambda s, o, c: (
        lambda a, b: a.union(b).filter(a.qty > 1).select(o.qty, a.order_id)
    )(o.filter("qty > 1"), o.filter("qty < 1")),
    "except_own": lambda s, o, c: o.select("qty").exceptAll(o.select("qty").limit(1)).select(o.qty),
    "intersect_own": lambda s, o, c: (
        lambda a: o.select("qty").intersect(a).select(a.qty)
    )(o.select("qty").limit(1)),
    "through": lambda s, o, c: o.filter("qty > 1").select("qty", "status").filter(o.qty > 2).select(
        o.status
    ),
    "inner_outside": lambda s, o, c: (
        lambda j: o.join(j, o.order_id == j.a_id, "left").select(j.one, j.a_id)
    )(_inner(o)),
    "inner_outside_left": lambda s, o, c: (
        lambda j: o.join(j, o.order_id == j.a_id, "left").select(o.qty)
    )(_inner(o)),
    "key_gone": lambda s, o, c: (
        lambda a: o.select("order_id").join(a, o.order_id == a.order_id, "left").select(a.qty)
    )(o.filter("qty > 1")),
    "key_gone_left": lambda s, o, c: (
        lambda a: o.select("order_id").join(a, o.order_id == a.order_id, "left").select(o.qty)
    )(o.filter("qty > 1")),
    "bridge": lambda s, o, c: (
        lambda ids: o.join(c, o.customer_id == c.customer_id)
        .join(ids, c.customer_id == ids.customer_id, "left")
        .select(o.qty, c.country)
    )(o.select("customer_id").distinct()),
    "bridge_apart": lambda s, o, c: (
        lambda n: c.join(o, o.customer_id == c.customer_id)
        .join(n, c.customer_id == n.cid, "left")
        .select(c.country, n.n)
    )(o.groupBy(F.col("customer_id").alias("cid")).agg(F.count(F.lit(1)).alias("n"))),
    "bridge_apart_left": lambda s, o, c: (
        lambda n: c.join(o, o.customer_id == c.customer_id)
        .join(n, c.customer_id == n.cid, "left")
        .select(o.qty)
    )(o.groupBy(F.col("customer_id").alias("cid")).agg(F.count(F.lit(1)).alias("n"))),
    "aliases_by_name": lambda s, o, c: o.alias("l").join(
        o.filter("qty > 1").alias("r"), F.col("l.order_id") == F.col("r.order_id"), "left"
    ).select("l.order_id", F.col("r.qty")),
    "cross_aggregate": lambda s, o, c: o.crossJoin(o.agg(F.max("price").alias("top"))).select(
        o.qty, "top"
    ),
    "window_apart": lambda s, o, c: (
        lambda n: o.join(n, "order_id").select("order_id", n.total)
    )(o.groupBy("order_id").agg(F.sum("price").alias("total"))),
    "cast_key": lambda s, o, c: (
        lambda n: o.join(n, o.order_id == n.order_id, "left").select("status", n.total)
    )(o.groupBy("order_id").agg(F.sum("price").alias("total"))),
}  # fmt: skip
SELF_JOINS |= {f"self_other_{name}": make for name, make in OTHERS.items()}

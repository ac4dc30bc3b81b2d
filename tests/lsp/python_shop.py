"""A shop with Python models over SQL and SQL over Python, for what an editor asks of its code."""

CODE = """from pyspark.sql import functions as F


def model(orders, customers):
    big = orders.filter(F.col("amount") > 10).withColumn("twice", F.col("amount") * 2)
    joined = big.join(customers, "customer_id", "left")
    chosen = joined.where(customers["country"] == "DE").filter("amount > 3")
    totals = chosen.groupBy("customer_id", orders.status).agg(F.sum("twice").alias("total"))
    named = totals.select("customer_id", "total", "status").withColumnRenamed("status", "state")
    return named.dropDuplicates(["customer_id"]).orderBy("total")
"""
SHOP = {
    "rocky.toml": '[pipeline.shop]\nmodels = "models/**"\n',
    "sources/raw.toml": """
[[source]]
name = "raw.orders"
columns = [
  { name = "id", type = "bigint", nullable = false },
  { name = "customer_id", type = "bigint" },
  { name = "amount", type = "decimal(12,2)" },
  { name = "status", type = "string" },
]

[[source]]
name = "raw.customers"
columns = [
  { name = "customer_id", type = "bigint" },
  { name = "country", type = "string" },
]
""",
    "models/orders.sql": "SELECT id, customer_id, amount, status FROM raw.orders\n",
    "models/paid.py": CODE,
    "models/paid.toml": 'inputs = { customers = "raw.customers" }\n',
    "models/report.sql": "SELECT customer_id, total FROM paid WHERE state = 'new'\n",
}

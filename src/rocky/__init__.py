"""Rocky: the typed graph between SQL and Spark."""

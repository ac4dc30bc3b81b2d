"""Strategies on a live Spark: a bench for each test, one engine for all."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from rocky.run.engine.protocol import Engine
from rocky.run.engine.spark import SparkEngine
from rocky.spark.connection import adopt_session
from tests.spark.materialize.bench import Bench


@pytest.fixture(scope="session")
def engine(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Engine:
    return SparkEngine(adopt_session(spark), tmp_path_factory.mktemp("engine"))


@pytest.fixture
def bench(engine: Engine, tmp_path: Path) -> Bench:
    return Bench(engine, tmp_path)

"""The environment: what beside code and inputs can change a row or a byte.

It is the version of Spark, the writer, and those settings that are not known to be harmless. For a
Spark that Rocky starts itself all of that is known before it is started; for one that somebody else
started only when it has been asked. A result made in another environment is never taken over.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from rocky.evidence.hashes import canonical_json, text_hash
from rocky.project.adapter import Adapter
from rocky.project.variables import Substituted
from rocky.run.engine import EngineFacts
from rocky.spark.layout import WRITER

_HARMLESS: Final = (
    # Where and how fast tasks run.
    "spark.app.",
    "spark.cores.",
    "spark.default.parallelism",
    "spark.deploy.",
    "spark.driver.",
    "spark.dynamicAllocation.",
    "spark.eventLog.",
    "spark.executor.",
    "spark.kubernetes.",
    "spark.local.",
    "spark.locality.",
    "spark.log",
    "spark.master",
    "spark.memory.",
    "spark.metrics.",
    "spark.network.",
    "spark.port.",
    "spark.python.",
    "spark.rpc.",
    "spark.scheduler.",
    "spark.shuffle.",
    "spark.speculation",
    "spark.storage.",
    "spark.submit.",
    "spark.task.",
    "spark.ui.",
    "spark.yarn.",
    # How a query is carried out: the rows of a deterministic one are the same.
    "spark.sql.adaptive.",
    "spark.sql.autoBroadcastJoinThreshold",
    "spark.sql.broadcastTimeout",
    "spark.sql.codegen.",
    "spark.sql.files.maxPartition",
    "spark.sql.files.minPartition",
    "spark.sql.files.openCostInBytes",
    "spark.sql.inMemoryColumnarStorage.",
    "spark.sql.shuffle.",
    "spark.sql.sources.parallelPartitionDiscovery.",
    # How stores are reached, with the keys to them.
    "spark.hadoop.fs.",
)

# They may name a locale or other classes.
_OF_THE_JVM: Final = ("JavaOptions", "ClassPath", "LibraryPath")
_ARGUMENTS: Final = "PYSPARK_SUBMIT_ARGS"


@dataclass(frozen=True)
class Environment:
    """What a result was made with. `session` is what a Spark of others says of itself."""

    spark_version: str
    writer: str
    settings: Mapping[str, str]
    session: Mapping[str, str] | None = None

    @cached_property
    def json(self) -> str:
        """The environment as it is hashed and recorded: canonical JSON."""
        document: dict[str, Any] = {
            "settings": dict(self.settings),
            "spark_version": self.spark_version,
            "writer": self.writer,
        }
        if self.session is not None:
            document["session"] = dict(self.session)
        return canonical_json(document)

    @cached_property
    def hash(self) -> str:
        return text_hash(self.json)


def foresee_environment(adapter: Adapter, env: Mapping[str, str]) -> Environment | None:
    """What a Spark that is started here will be; None where only Spark can tell."""
    if adapter.remote is not None or env.get("SPARK_HOME") or env.get("SPARK_REMOTE"):
        return None
    return Environment(version("pyspark"), WRITER, result_settings(adapter, env))


def observe_environment(
    facts: EngineFacts, adapter: Adapter, env: Mapping[str, str], *, own: bool
) -> Environment:
    """What a Spark that runs says it is; `own` if it was started here."""
    session = None if own else facts.settings
    return Environment(facts.spark_version, facts.writer, result_settings(adapter, env), session)


def result_settings(adapter: Adapter, env: Mapping[str, str]) -> dict[str, str]:
    """Settings that may change a result, none of which is shown if it may be a secret."""
    found = {
        name: f"blake3:{text_hash(value)[:16]}" if isinstance(value, Substituted) else value
        for name, value in adapter.conf.items()
        if not name.startswith(_HARMLESS) or name.endswith(_OF_THE_JVM)
    }
    if env.get(_ARGUMENTS):
        found[_ARGUMENTS] = f"blake3:{text_hash(env[_ARGUMENTS])[:16]}"
    folder = env.get("SPARK_CONF_DIR")
    defaults = Path(folder) / "spark-defaults.conf" if folder else None
    if defaults is not None and os.access(defaults, os.R_OK):
        found["spark-defaults.conf"] = f"blake3:{text_hash(defaults.read_text('utf-8'))[:16]}"
    return found

"""The environment: what beside code and inputs can change a row or a byte.

It is the version of Spark, the writer, and those settings that are not known to be harmless, be
they the project's, of variables or of files that Spark reads when it starts. For a Spark that Rocky
starts itself all of that is known before it is started; for one that somebody else started only
when it has been asked. A result made in another environment is never reused.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from glob import iglob
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from rocky.canonical import canonical_json, text_hash
from rocky.project.configuration.blocks import Adapter
from rocky.project.secrets import hide, hide_hash, is_secret
from rocky.run.checksums import hash_file
from rocky.run.engine.protocol import EngineFacts
from rocky.spark.interface import WRITER
from rocky.spark.java import has_driver

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
    "spark.sql.warehouse.dir",
    # How stores are reached, with the keys to them.
    "spark.hadoop.fs.",
)

# Whatever it begins with: it may name a locale, other classes or another Spark.
_COUNTS: Final = (
    "JavaOptions", "ClassPath", "LibraryPath", "jars", "pyFiles", "archive", "archives",
    "container.image",
)  # fmt: skip
_OF_FILES: Final = ("spark.jars", "spark.submit.pyFiles", "spark.files", "spark.archives")
"""Settings that name files whose bytes count."""

_VARIABLES: Final = (
    "PYSPARK_SUBMIT_ARGS",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "_JAVA_OPTIONS",
    "HADOOP_CONF_DIR",
    "YARN_CONF_DIR",
    "TZ",
)
_READ_AT_START: Final = ("spark-defaults.conf", "spark-env.sh")


@dataclass(frozen=True)
class Environment:
    """What a result was made with.

    `session` is what a Spark of others says of itself; `explicit` is what somebody has set on it,
    hashed.
    """

    spark_version: str
    writer: str
    settings: Mapping[str, str]
    session: Mapping[str, str] | None = None
    explicit: Mapping[str, str] | None = None

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
        if self.explicit:
            document["explicit"] = dict(self.explicit)
        return canonical_json(document)

    @cached_property
    def hash(self) -> str:
        return text_hash(self.json)


def predict_environment(
    adapter: Adapter, env: Mapping[str, str], root: Path = Path()
) -> Environment | None:
    """What a Spark that is started here will be; None where only Spark can tell.

    Paths in settings start at `root`.
    """
    if adapter.remote is not None or env.get("SPARK_HOME") or env.get("SPARK_REMOTE"):
        return None
    if has_driver():
        return None
    return Environment(version("pyspark"), WRITER, result_settings(adapter, env, root))


def observe_environment(
    facts: EngineFacts,
    adapter: Adapter,
    env: Mapping[str, str],
    root: Path = Path(),
    *,
    own: bool,
) -> Environment:
    """What a Spark that runs says it is; `own` if it was started here."""
    settings = result_settings(adapter, env, root)
    if own:
        return Environment(facts.spark_version, facts.writer, settings)
    explicit = {name: hide(value) for name, value in facts.explicit.items() if _may_count(name)}
    return Environment(facts.spark_version, facts.writer, settings, facts.settings, explicit)


def result_settings(
    adapter: Adapter, env: Mapping[str, str], root: Path = Path()
) -> dict[str, str]:
    """What may change a result, none of it shown that may be a secret.

    Beside settings of the adapter these are variables and files by their names.
    """
    found = {
        name: hide(value) if is_secret(name, value) else value
        for name, value in adapter.conf.items()
        if _may_count(name)
    }
    found |= {name: hide(env[name]) for name in _VARIABLES if env.get(name)}
    for name in _OF_FILES:
        hashes = list(_hash_files(adapter.conf.get(name, ""), root))
        if hashes:
            found[f"{name} (files)"] = hide(canonical_json(hashes))
    for name, path in _start_files(env):
        if path.is_file() and os.access(path, os.R_OK):
            found[name] = hide_hash(hash_file(path))
    return found


def _may_count(name: str) -> bool:
    return not name.startswith(_HARMLESS) or name.endswith(_COUNTS)


def _hash_files(listed: str, root: Path) -> Iterator[list[str]]:
    """The files of this machine that a list names, patterns as well, with the hash of each."""
    for each in filter(None, map(str.strip, listed.split(","))):
        place = each.removeprefix("file://").removeprefix("file:").partition("#")[0]
        # A pattern may be absolute, which `Path.glob` refuses.
        for path in sorted(map(Path, iglob(str(root.absolute() / place)))):  # noqa: PTH207
            if path.is_file() and os.access(path, os.R_OK):
                yield [path.name, hash_file(path)]


def _start_files(env: Mapping[str, str]) -> Iterator[tuple[str, Path]]:
    """Files that Spark reads when it is started here, if they are there, and what to call them."""
    folder = env.get("SPARK_CONF_DIR")
    if not folder:
        home = env.get("SPARK_HOME") or _home_of_pyspark()
        folder = f"{home}/conf"
    for name in _READ_AT_START:
        yield name, Path(folder, name)
    # Spark's scripts put the folder on the class path, where Hadoop looks for its own.
    for path in Path(folder).glob("*-site.xml"):
        yield path.name, path
    if env.get("HADOOP_CONF_DIR"):
        for path in Path(env["HADOOP_CONF_DIR"]).glob("*-site.xml"):
            yield f"HADOOP_CONF_DIR/{path.name}", path


def _home_of_pyspark() -> str:
    # Without loading it: a run that builds nothing must not.
    found = find_spec("pyspark")
    return str(Path(found.origin).parent) if found is not None and found.origin else ""

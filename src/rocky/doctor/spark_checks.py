"""Checks of what tables are built with: Java and Spark. Looking loads no pyspark."""

from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final

from rocky.doctor.patient import Patient
from rocky.doctor.results import Diagnosis, critical, healthy, warning
from rocky.errors import RockyError
from rocky.lazy import load_attribute
from rocky.project.adapter import Adapter
from rocky.spark.java import choose_java

_INSTALL: Final = "install it: `pip install 'rocky-spark[spark]'`"


def check_java(patient: Patient) -> Diagnosis:
    """A Java that Spark can run on, unless Spark runs elsewhere."""
    adapters = _adapters_of(patient)
    if adapters and all(each.remote for each in adapters):
        return healthy("not needed: Spark runs elsewhere")
    try:
        java = choose_java()
    except RockyError as error:
        said, _, fix = str(error).partition("; ")
        return critical(said, fix)
    return healthy(f"Java {java.full} (`{java.program}`)")


def check_spark(patient: Patient) -> Diagnosis:
    """The Spark that is installed; asked for by name, it is also started."""
    try:
        installed = version("pyspark")
    except PackageNotFoundError:
        return critical("pyspark is not installed", _INSTALL)
    if not patient.start_spark:
        return healthy(f"pyspark {installed} is installed; `--check spark` also starts it")
    project = patient.require_project()
    found = [_start(adapter, project.root) for adapter in _adapters_of(patient)]
    if not found:
        return warning("no adapter says where Spark is", "write an `[adapter]` into `rocky.toml`")
    return healthy(", ".join(found))


def _start(adapter: Adapter, root: Any) -> str:
    """What a Spark says of itself. Raises SparkUnavailable, AdapterUnusable."""
    connection = load_attribute("rocky.spark.session", "connect_spark")(adapter, root)
    try:
        return f"Spark {connection.session.version} at `{adapter.remote or adapter.master}` started"
    finally:
        connection.close()


def _adapters_of(patient: Patient) -> list[Adapter]:
    return [] if patient.project is None else list(patient.project.config.adapter.values())

"""Sources that quality pipelines check: each is declared, or it is an error at its line."""

from collections.abc import Mapping

from rocky.diagnostics.suggestion import suggestion
from rocky.project.configuration.config import Config
from rocky.project.configuration.pipelines import QualityPipeline
from rocky.project.files import Report
from rocky.project.sources import SourceTable
from rocky.project.toml.documents import Document, Problem
from rocky.project.toml.variables import written


def report_undeclared_checks(
    config: Config, sources: Mapping[str, SourceTable], document: Document | None, report: Report
) -> None:
    """Report the sources that checks name and nobody declares."""
    for name, pipeline in config.pipeline.items():
        if not isinstance(pipeline, QualityPipeline) or document is None:
            continue
        for index, each in enumerate(pipeline.tables):
            if each.source is None or each.source.lower() in sources:
                continue
            near = suggestion(each.source, [source.name for source in sources.values()])
            keys = ("pipeline", name, "tables", index, "source")
            said = f"no source `{written(each.source)}` is declared"
            hint = "declare it below `sources/`, or write `spark_table` for one of Spark's own"
            report(document.diagnose(Problem(keys, said, near or hint)))

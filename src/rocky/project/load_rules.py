"""Rules of load and snapshot pipelines that the shape of `rocky.toml` alone does not say.

A setting that would have no effect is a mistake: whoever wrote it believes in it.
"""

from typing import Final

from rocky.project.documents import Problem
from rocky.project.pipelines import LoadOptions, LoadPipeline, SnapshotPipeline
from rocky.project.rules import Problems
from rocky.project.variables import Keys, Unset

_DEFAULT: Final = LoadOptions()


def check_load(pipeline: LoadPipeline, at: Keys, problems: Problems) -> None:
    """Report what is wrong with a load pipeline."""
    options = pipeline.options
    if "://" in pipeline.source_dir and not pipeline.source_dir.startswith("file://"):
        problems.append(
            Problem(
                (*at, "source_dir"),
                "`source_dir` must be a folder: files are known by their bytes, read here",
                'copy an object store with `type = "replication"` instead',
            )
        )
    elif not pipeline.source_dir and not isinstance(pipeline.source_dir, Unset):
        problems.append(Problem((*at, "source_dir"), "`source_dir` must not be empty"))
    if options.batch_size != _DEFAULT.batch_size:
        problems.append(
            Problem(
                (*at, "options", "batch_size"),
                "`batch_size` has no effect: all new files of a table are loaded in one commit",
                "leave it out",
            )
        )
    if len(options.csv_delimiter) != 1 or options.csv_delimiter in '"\r\n':
        problems.append(
            Problem(
                (*at, "options", "csv_delimiter"),
                "`csv_delimiter` must be one character, and no quote or line end",
            )
        )
    if pipeline.format in ("parquet", "json_lines"):
        _check_csv_options(pipeline, at, problems)


def check_snapshot(pipeline: SnapshotPipeline, at: Keys, problems: Problems) -> None:
    """Report what is wrong with a snapshot pipeline."""
    if not pipeline.unique_key:
        problems.append(Problem((*at, "unique_key"), "`unique_key` must name at least one column"))
    if pipeline.source.adapter not in ("default", pipeline.target.adapter):
        problems.append(
            Problem(
                (*at, "source", "adapter"),
                f"a pipeline reads with the adapter it writes with, `{pipeline.target.adapter}`",
                "leave out `adapter`",
            )
        )
    source, target = pipeline.source, pipeline.target
    if [each.lower() for each in source[:3]] == [each.lower() for each in target[:3]]:
        problems.append(
            Problem((*at, "target", "table"), "the history of a table cannot be kept in it")
        )


def _check_csv_options(pipeline: LoadPipeline, at: Keys, problems: Problems) -> None:
    for key in ("csv_delimiter", "csv_has_header"):
        if getattr(pipeline.options, key) != getattr(_DEFAULT, key):
            problems.append(
                Problem(
                    (*at, "options", key),
                    f'`{key}` has no effect with `format = "{pipeline.format}"`',
                )
            )

"""Tags of copies, as far as files give them: the contracts of loads, and what is copied.

A table that a pipeline writes may be declared as a source too. What it is copied from has its tags
then as if it were not.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from rocky.pipelines.loads.contract import contract_tags
from rocky.project import Project
from rocky.project.configuration.classifications import merge_tags
from rocky.project.configuration.pipelines import LoadPipeline
from rocky.project.pipeline_tables import PipelineTable
from rocky.project.sources import SourceTable


def add_contract_tags(
    project: Project, root: Path, found: Mapping[str, PipelineTable]
) -> dict[str, PipelineTable]:
    """The tables with the tags that the contracts of their loads give them."""
    told = {
        name: contract_tags(root, pipeline.contract, name)
        for name, pipeline in project.config.pipeline.items()
        if isinstance(pipeline, LoadPipeline) and pipeline.contract is not None
    }
    return {
        key: replace(each, classification=merge_tags(each.classification, told[each.pipeline]))
        if told.get(each.pipeline)
        else each
        for key, each in found.items()
    }


def add_copied_tags(
    found: Mapping[str, PipelineTable], declared: Mapping[str, SourceTable]
) -> dict[str, SourceTable]:
    """The declared sources, by key, that are tables with tags which they do not declare."""
    return {
        source.key: replace(
            source, classification=merge_tags(each.classification, source.classification)
        )
        for full, each in found.items()
        if each.classification and (source := declared.get(full)) is not None
    }

"""The samples under `examples/pipelines` compile without a finding and stand in their layout."""

from pathlib import Path
from shutil import copytree

import rocky

SAMPLES = Path(__file__).parents[3] / "examples/pipelines"


def test_the_samples_compile_and_are_laid_out(tmp_path):
    copytree(SAMPLES, tmp_path / "samples")
    opened = rocky.open(tmp_path / "samples")
    report = opened.compile()

    assert [] == list(report.diagnostics)
    assert 4 == len(report.models)
    assert () == opened.fmt(check=True).changed
    assert all(column.type != "unknown" for model in report.models for column in model.columns)

"""A setting is judged by where it stands, not by what somebody has called the things around it."""

import pytest

from rocky.analysis.changes.settings import compare_configs
from rocky.project.configuration.blocks import Adapter
from rocky.project.configuration.config import Config
from rocky.project.configuration.pipelines import TransformationPipeline


@pytest.mark.parametrize(
    ("before", "after", "rules"),
    [
        (
            Config(adapter={"checks": Adapter()}),
            Config(adapter={"checks": Adapter(warehouse="elsewhere")}),
            ["settings_changed"],
        ),
        (
            Config(pipeline={"master": TransformationPipeline()}),
            Config(pipeline={"master": TransformationPipeline(models="models/a*")}),
            ["settings_changed"],
        ),
        (
            Config(adapter={"default": Adapter(conf={"master": "a"})}),
            Config(adapter={"default": Adapter(conf={"master": "b"})}),
            ["settings_changed"],
        ),
        (
            Config(adapter={"default": Adapter()}),
            Config(adapter={"default": Adapter(master="local[2]")}),
            ["operation_changed"],
        ),
    ],
)
def test_only_a_settings_own_place_makes_it_operational(before, after, rules):
    assert rules == [each.rule for each in compare_configs(before, after)]

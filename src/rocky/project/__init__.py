"""Projects on disk: `rocky.toml`, models, sources, seeds and contracts -> `Project`."""

from rocky.project.configuration.config import Config
from rocky.project.contracts import Contract, ContractColumn, ContractRule
from rocky.project.loader import load_project
from rocky.project.models import ModelFile, Target, setting_place
from rocky.project.project import Project, ProjectTexts
from rocky.project.seeds import SeedTable
from rocky.project.sources import SourceTable

__all__ = [
    "Config",
    "Contract",
    "ContractColumn",
    "ContractRule",
    "ModelFile",
    "Project",
    "ProjectTexts",
    "SeedTable",
    "SourceTable",
    "Target",
    "load_project",
    "setting_place",
]

"""Projects on disk: `rocky.toml`, models, sources, seeds and contracts -> `Project`."""

from rocky.project.config import Config
from rocky.project.contracts import Contract, ContractColumn, ContractRule
from rocky.project.load import load_project
from rocky.project.models import ModelFile, Target
from rocky.project.places import setting_place
from rocky.project.project import Project, Texts
from rocky.project.seeds import SeedTable
from rocky.project.sources import SourceTable

__all__ = [
    "Config",
    "Contract",
    "ContractColumn",
    "ContractRule",
    "ModelFile",
    "Project",
    "SeedTable",
    "SourceTable",
    "Target",
    "Texts",
    "load_project",
    "setting_place",
]

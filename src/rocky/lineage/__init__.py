"""Lineage: where values come from and what a change reaches, over the typed IR."""

from rocky.lineage.columns import ColumnRef, Hop, Lineage, RowHop, Trace
from rocky.lineage.models import model_edges, reach_models

__all__ = ["ColumnRef", "Hop", "Lineage", "RowHop", "Trace", "model_edges", "reach_models"]

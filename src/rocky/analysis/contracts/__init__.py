"""Contracts: what a model promises its readers, judged over its typed output."""

from rocky.analysis.contracts.baseline import (
    Baseline,
    baseline_path,
    decode_baseline,
    encode_baseline,
    load_baseline,
    write_baseline,
)
from rocky.analysis.contracts.check import check_contract, check_model_contract, record_baselines

__all__ = [
    "Baseline",
    "baseline_path",
    "check_contract",
    "check_model_contract",
    "decode_baseline",
    "encode_baseline",
    "load_baseline",
    "record_baselines",
    "write_baseline",
]

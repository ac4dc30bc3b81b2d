"""Findings about a project: codes, the Diagnostic value, suppression, rendering."""

from rocky.diagnostics.codes import BY_CODE, REGISTRY, Code, CodeInfo, Severity
from rocky.diagnostics.diagnostic import Diagnostic, Edit, Fix, FixSafety, Label

__all__ = [
    "BY_CODE",
    "REGISTRY",
    "Code",
    "CodeInfo",
    "Diagnostic",
    "Edit",
    "Fix",
    "FixSafety",
    "Label",
    "Severity",
]

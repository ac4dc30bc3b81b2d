"""Findings about a project: texts and places in them, codes, Diagnostic, suppression, renderers."""

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

"""Where `counted` was; it is in `rocky.diagnostics.render`."""

from rocky.diagnostics.render import counted

__all__ = ["counted"]

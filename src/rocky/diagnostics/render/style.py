"""Style: the ANSI colours of a rendering, or none.

Colours are plain escape codes: the terminal library would cost more start-up time than
everything else `rocky compile` prints.
"""

from dataclasses import dataclass

from rocky.diagnostics.codes import Severity

_RESET = "\x1b[0m"
_BOLD = "\x1b[1m"
_SEVERITY = {
    Severity.ERROR: "\x1b[1;31m",
    Severity.WARNING: "\x1b[1;33m",
    Severity.INFO: "\x1b[1;36m",
}
_GUTTER = "\x1b[1;34m"


@dataclass(frozen=True, slots=True)
class Style:
    """What to wrap words in; with `colour` off every method returns its text as it came."""

    colour: bool = False

    def severity(self, severity: Severity, text: str) -> str:
        return self._wrap(_SEVERITY[severity], text)

    def bold(self, text: str) -> str:
        return self._wrap(_BOLD, text)

    def gutter(self, text: str) -> str:
        return self._wrap(_GUTTER, text)

    def _wrap(self, code: str, text: str) -> str:
        return f"{code}{text}{_RESET}" if self.colour and text else text

"""Markdown on a terminal. Apart from the rest because importing the library costs 0.1 s."""

import io

from rich.console import Console
from rich.markdown import Markdown

WIDTH = 100


def render_markdown(text: str) -> str:
    """The text with colours and rules, wrapped to the terminal."""
    width = min(Console().width, WIDTH)
    buffer = io.StringIO()
    console = Console(file=buffer, width=width, force_terminal=True)
    console.print(Markdown(text, code_theme="ansi_dark"))
    return buffer.getvalue()

"""The project over a server of its own: the page, the protocol it speaks, and assistants."""

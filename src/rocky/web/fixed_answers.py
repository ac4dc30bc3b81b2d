"""Answers that are the same for everybody: to one connection too many, and to the token."""

import json
from typing import Final

_CROWDED: Final = json.dumps(
    {"error": {"kind": "Refused", "message": "too many connections are open: close some pages"}}
).encode()
TURNED_AWAY: Final = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json; charset=utf-8\r\n"
    b"Retry-After: 5\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s"
) % (len(_CROWDED), _CROWDED)
OPENED: Final = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="0; url=/">
<link rel="icon" href="/icon.svg" type="image/svg+xml"><title>Rocky</title></head>
<body><p><a href="/">Open the page</a></p></body></html>
"""
"""The first answer: a browser sends the cookie with what our own page asks for, not with what
another site's link redirects to."""

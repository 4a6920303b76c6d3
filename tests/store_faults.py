"""What a store may do to a request: functions of a handler of `store_server`, and statuses."""

import re
from typing import Any


def half(handler: Any) -> None:
    """Send the head of an answer and half of its body."""
    write = handler.answer

    def answer(status: int, content: bytes, headers: Any = None) -> None:
        handler.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(content))}.items():
            handler.send_header(name, value)
        handler.send_header("Last-Modified", "Wed, 21 Oct 2026 07:28:00 GMT")
        handler.end_headers()
        handler.wfile.write(content[: len(content) // 2])
        handler.wfile.flush()
        handler.close_connection = True

    handler.answer = answer
    handler.serve()
    handler.answer = write


def stalled_body(handler: Any) -> None:
    """Send half of a body, and then nothing."""
    half(handler)
    handler.server.closing.wait(1)


def short_range(handler: Any) -> None:
    """Answer with less than the range that was asked for, and say so."""
    first, last = re.fullmatch(r"bytes=(\d+)-(\d+)", handler.headers["Range"]).groups()
    handler.headers.replace_header("Range", f"bytes={first}-{(int(first) + int(last)) // 2}")
    handler.serve()


def whole_file(handler: Any) -> None:
    """Heed no range."""
    del handler.headers["Range"]
    handler.serve()


def wrong_bytes(handler: Any) -> None:
    """Answer with other bytes, as many as were asked for."""
    handler.serve(lambda content: bytes(byte ^ 1 for byte in content))


def another_version(handler: Any) -> None:
    """Answer as if the object had been replaced since it was first read."""
    handler.answer(412, b"")


FAULTS: dict[str, Any] = {
    "403": 403,
    "404": 404,
    "wrong bytes": wrong_bytes,
    "another version": another_version,
    "503": 503,
    "429": 429,
    "500": 500,
    "reset": lambda handler: handler.reset(),
    "body cut short": half,
    "body stalls": stalled_body,
    "head stalls": lambda handler: handler.server.closing.wait(1),
    "short range": short_range,
    "whole file": whole_file,
}

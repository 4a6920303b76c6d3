"""Names as a terminal can show them."""


def printable(text: str) -> str:
    """A name or a message; what is no UTF-8 in it, or no text, as escapes."""
    try:
        return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    except UnicodeEncodeError:  # half a surrogate pair, which JSON can hold
        return text.encode("utf-8", "backslashreplace").decode()

"""Finds the messages of a package that print a command or a line of Python as remedy.

A message is known by the literal parts of the string that the source code has for it.
"""

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

_CALLS = {"option", "command", "choices", "typed"}  # they make options and commands
_CODE = re.compile(
    r"`?packer [a-z]+ [^.]*--|`packer |packer\.[a-zA-Z]+\(|reader\.[A-Z]\w+\(|pip install"
    r"|\b(pass|give|write|run|use|need|return)\b[^.]*( --[a-z]|\w=|\.\w+\()",
    re.IGNORECASE,
)
_SHORTEST = 12  # characters; less is a part of another message


def forgotten(package: Path, texts: Iterable[str], others: Iterable[str]) -> list[str]:
    """Return each message with a remedy that is in none of `texts` and has none of `others`.

    And each of `others` that no message has.
    """
    known, named = list(texts), list(others)
    messages = [(where, parts, "...".join(parts)) for where, parts in _messages(package)]
    return [
        f"{where}: {whole}"
        for where, parts, whole in messages
        if not any(_has(text, parts) for text in known)
        if not any(part in whole for part in named)
    ] + [
        f"no message has: {part}"
        for part in named
        if not any(part in whole for _, _, whole in messages)
    ]


def _has(text: str, parts: list[str]) -> bool:
    at = 0
    for part in parts:
        if (found := text.find(part, at)) < 0:
            return False
        at = found + len(part)
    return True


def _messages(package: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield file and line, and literal parts, of each message with a remedy."""
    for path in sorted(package.rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        nested = {
            id(part)
            for node in ast.walk(tree)
            if isinstance(node, (ast.JoinedStr, ast.Expr)) or _has_remedies(node)
            for part in ast.walk(node)
            if part is not node and isinstance(part, ast.Constant | ast.JoinedStr)
            if not isinstance(node, ast.Expr) or part is node.value  # docstrings
        }
        for node in ast.walk(tree):
            is_text = isinstance(node, ast.Call | ast.Constant | ast.JoinedStr)
            if is_text and id(node) not in nested and (parts := _remedy(node)):
                yield f"{path.relative_to(package.parent)}:{node.lineno}", parts


def _has_remedies(node: ast.AST) -> bool:
    """Return whether a call joins texts with options and commands."""
    return isinstance(node, ast.Call) and any(map(_makes_one, node.args))


def _makes_one(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _CALLS


def _remedy(node: ast.AST) -> list[str]:
    """Return the literal parts of a message with a remedy, otherwise []."""
    if isinstance(node, ast.Call) and _has_remedies(node):
        texts = [text for one in node.args for text in _texts(one)]
        is_remedy = True
    else:
        texts = _texts(node)
        typed = (part.value for part in getattr(node, "values", ()) if hasattr(part, "value"))
        is_remedy = bool(_CODE.search(" ".join(texts))) or any(map(_makes_one, typed))
    return texts if is_remedy and max(map(len, texts), default=0) >= _SHORTEST else []


def _texts(node: ast.AST) -> list[str]:
    if isinstance(node, ast.JoinedStr):
        return [str(part.value) for part in node.values if isinstance(part, ast.Constant)]
    is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return re.split(r"\{\w*\}", str(node.value)) if is_text else []

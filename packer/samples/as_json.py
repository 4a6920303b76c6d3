"""The JSON of a sample (pure)."""

import base64
import datetime
import decimal
import json
import math
from collections.abc import Mapping
from typing import Any

from packer.errors import BadImage


def to_json(fields: Any) -> bytes:
    """The JSON of a sample (RFC 8259, ASCII): NaN and infinities as null, bytes as base64."""
    try:
        try:
            text = json.dumps(fields, separators=(",", ":"), allow_nan=False)
        except (TypeError, ValueError):
            text = json.dumps(_plain(fields), separators=(",", ":"))
    except RecursionError as error:
        raise BadImage("it is nested too deeply") from error
    return text.encode()


def _plain(value: Any) -> Any:
    """`value` of what JSON has."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, (decimal.Decimal, datetime.timedelta)):
        return str(value)
    return value

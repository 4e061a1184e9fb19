"""Values of settings as people type them."""

from __future__ import annotations

import json
from typing import Any


def typed(value: Any) -> str:
    """Return *value* of a setting as people type it behind -s NAME=.

    >>> typed(True), typed(None), typed(["a", "b"]), typed(1.5)
    ('1', '', 'a,b', '1.5')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, (list, tuple)):
        return ",".join(map(str, value))
    return json.dumps(value) if isinstance(value, dict) else str(value)

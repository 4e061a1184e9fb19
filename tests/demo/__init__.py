"""The demo web and the truth about it."""

from __future__ import annotations

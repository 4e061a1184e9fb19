"""A record of a log as one line of JSON."""

from __future__ import annotations

from datetime import datetime
from types import NoneType
from typing import TYPE_CHECKING

from pythonjsonlogger.core import RESERVED_ATTRS, LogData
from pythonjsonlogger.json import JsonFormatter

if TYPE_CHECKING:
    from collections.abc import Mapping

VALUES = (str, int, float, bool, NoneType, datetime)


class JsonLines(JsonFormatter):
    """Formats a record as one line of JSON, with the same *fields* in all of them.

    Of what was given as `extra`, values stay and objects, such as items, are left out.
    """

    def __init__(self, fields: Mapping[str, str]) -> None:
        super().__init__(
            ["levelname", "name", "message"],
            rename_fields={"levelname": "level", "name": "logger", "exc_info": "exception"},
            timestamp="time",
            defaults={"time": None},  # makes it the first field
            static_fields=dict(fields),
            reserved_attrs=[*RESERVED_ATTRS, "spider"],  # Scrapy adds the object
        )

    def process_log_record(self, log_data: LogData) -> LogData:
        return {name: value for name, value in log_data.items() if isinstance(value, VALUES)}

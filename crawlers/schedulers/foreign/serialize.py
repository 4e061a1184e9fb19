"""Serialises the requests of plain Scrapy spiders: whatever waits is a row."""

from __future__ import annotations

import json
import logging
import secrets
from typing import TYPE_CHECKING, Any

from scrapy.utils.request import request_from_dict

from crawlers.algorithms.urls.keys import page_key
from crawlers.algorithms.urls.resolution import resolve
from crawlers.reasons import Reason

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.spiders import Spider

    from crawlers.algorithms.urls.normalization import Normalization
    from crawlers.items import Target

logger = logging.getLogger(__name__)


class RequestKeeper:
    """Writes requests as JSON, and recreates them.

    A request that can't be written (an object in its meta, a callback that is not a method of the spider) stays in
    memory, so it does not survive the process; the first one is logged.
    """

    def __init__(self, spider: Spider) -> None:
        self._spider = spider
        self._kept: dict[int, Request] = {}
        self._serial = 0
        self._process = secrets.token_hex(8)  # distinguishes the numbers of different processes

    def write(self, request: Request) -> str:
        try:
            fields = request.to_dict(spider=self._spider)
            fields["headers"] = {
                name.decode("latin-1"): [value.decode("latin-1") for value in values]
                for name, values in fields["headers"].items()
            }
            fields["body"] = fields["body"].decode("latin-1")
            text = json.dumps(fields)
            if json.loads(text) != fields:
                raise ValueError("a tuple, or a key that is not text, would be recreated as something else")
            return text
        except (TypeError, ValueError) as error:
            if not self._serial:
                logger.warning(
                    "%s can't be written as JSON (%s): it stays in memory and is lost with the process. Further "
                    "occurrences are not logged",
                    request,
                    error,
                )
            self._serial += 1
            self._kept[self._serial] = request
            return json.dumps({"kept": self._serial, "process": self._process})

    def read(self, text: str) -> Request:
        """Return the request; raises `LookupError` with the reason if it can't be recreated."""
        fields: dict[str, Any] = json.loads(text)
        if "kept" in fields:
            request = self._kept.pop(fields["kept"], None) if fields.get("process") == self._process else None
            if request is None:
                raise LookupError(Reason.REQUEST_LOST)
            return request
        fields["body"] = fields["body"].encode("latin-1")
        fields["headers"] = {  # as bytes, because Scrapy would encode text as UTF-8
            name.encode("latin-1"): [value.encode("latin-1") for value in values]
            for name, values in fields["headers"].items()
        }
        try:
            return request_from_dict(fields, spider=self._spider)
        except (AttributeError, ImportError, NameError, TypeError, ValueError) as error:
            raise LookupError(Reason.REQUEST_OUTDATED.of(error)) from error


def target_of_request(request: Request, options: Normalization, *, unique: str = "") -> Target:
    """Return the identity of *request*: its URL, method and body; with *unique* it differs from all others.

    Raises `BadUrl`.
    """
    target = resolve(request.url, "", options)
    if request.method == "GET" and not request.body and not unique:
        return target
    parts = (request.method, target.normalized, request.body.decode("latin-1"), unique)
    return target._replace(key=page_key("\n".join(parts)))

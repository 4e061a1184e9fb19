"""Requests of ordinary spiders as text: a URL that waits is a row, also when it is a whole request."""

from __future__ import annotations

import json
import logging
import secrets
from typing import TYPE_CHECKING, Any

from scrapy.utils.request import request_from_dict

from crawlers.algorithms.urls.keys import page_key
from crawlers.algorithms.urls.resolution import resolve

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.spiders import Spider

    from crawlers.algorithms.urls.normalization import Normalization
    from crawlers.items import Target

logger = logging.getLogger(__name__)


class RequestKeeper:
    """Writes requests as JSON and makes them again.

    A request that is no JSON (an object in its meta, a callback that is no method of the spider) is kept
    in memory, so it does not survive the process; the first such is logged.
    """

    def __init__(self, spider: Spider) -> None:
        self._spider = spider
        self._kept: dict[int, Request] = {}
        self._serial = 0
        self._process = secrets.token_hex(8)  # a number of an earlier process is no number of ours

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
                raise ValueError("a tuple or a key that is no text would come back as something else")
            return text
        except (TypeError, ValueError) as error:
            if not self._serial:
                logger.warning(
                    "%s can't be written as JSON (%s): it is kept in memory and lost with the process; no more "
                    "such requests will be shown",
                    request,
                    error,
                )
            self._serial += 1
            self._kept[self._serial] = request
            return json.dumps({"kept": self._serial, "process": self._process})

    def read(self, text: str) -> Request:
        """The request; raises `LookupError` with the reason when it can't be made again."""
        fields: dict[str, Any] = json.loads(text)
        if "kept" in fields:
            request = self._kept.pop(fields["kept"], None) if fields.get("process") == self._process else None
            if request is None:
                raise LookupError("the request could not be written down and was lost with its process")
            return request
        fields["body"] = fields["body"].encode("latin-1")
        fields["headers"] = {  # bytes again: of text Scrapy would make UTF-8
            name.encode("latin-1"): [value.encode("latin-1") for value in values]
            for name, values in fields["headers"].items()
        }
        try:
            return request_from_dict(fields, spider=self._spider)
        except (AttributeError, ImportError, NameError, TypeError, ValueError) as error:
            raise LookupError(f"the spider has changed, the request can't be made again: {error}") from error


def target_of_request(request: Request, options: Normalization, *, unique: str = "") -> Target:
    """What *request* is known by: its URL, method and body; with *unique* it equals no other one.

    Raises `BadUrl`.
    """
    target = resolve(request.url, "", options)
    if request.method == "GET" and not request.body and not unique:
        return target
    parts = (request.method, target.normalized, request.body.decode("latin-1"), unique)
    return target._replace(key=page_key("\n".join(parts)))

"""Plain Scrapy spiders, as users write them, independent of this project."""

import asyncio

from scrapy import FormRequest, Request, Spider
from scrapy.exceptions import CloseSpider, DropItem, IgnoreRequest
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule


class PlainSpider(Spider):
    """The base of these spiders; the site is given as `-a site=http://…`."""

    site = ""

    async def start(self):
        yield Request(self.url("/"))

    def url(self, path):
        return self.site + path

    def nothing(self, response):
        return None


class EverythingSpider(PlainSpider):
    """One request of each kind that Scrapy's documentation shows."""

    name = "everything"
    allowed_domains = ("127.0.0.1",)

    async def start(self):
        yield Request(self.url("/"), dont_filter=True)
        yield Request(self.url("/"), dont_filter=True)
        yield Request(self.url("/start-flaky"), callback=self.plain, dont_filter=True)

    def parse(self, response):
        yield {"name": "home", "title": response.css("title::text").get(), "at": response.url}
        for _ in range(2):
            yield response.follow("/twice", callback=self.plain)
            yield response.follow("/repeated", callback=self.plain, dont_filter=True)
        yield response.follow("/named", callback=self.named, cb_kwargs={"name": "given", "numbers": [1, 2]})
        yield response.follow("/meta", callback=self.meta, meta={"shelf": {"place": 3}, "note": None})
        yield response.follow("/headers", callback=self.echo, headers={"X-Kind": "plain"})
        yield response.follow("/post", method="POST", body=b"\xff\x00body", callback=self.echo)
        yield response.follow("/post", method="POST", body=b"another", callback=self.echo)
        yield FormRequest(self.url("/form"), formdata={"a": "1", "b": "ü"}, callback=self.echo)
        for path in ("/moved", "/flaky", "/broken-without-errback", "/missing", "/down-without-errback"):
            yield response.follow(path, callback=self.plain)
        yield response.follow("/moved-offsite", callback=self.plain, errback=self.failed)
        yield response.follow("http://offsite.example/", callback=self.plain)
        yield response.follow("/broken", callback=self.plain, errback=self.failed)
        yield response.follow("/wanted-missing", callback=self.plain, meta={"handle_httpstatus_list": [404]})
        yield response.follow("/down", callback=self.plain, errback=self.failed)
        yield response.follow("/down-async", callback=self.plain, errback=self.failed_async)
        yield response.follow("/down-raising", callback=self.plain, errback=self.failed_raising)
        yield response.follow("/down-returning", callback=self.plain, errback=self.failed_returning)
        yield response.follow("/async", callback=self.waits)
        yield response.follow("/coroutine", callback=self.returns_list)
        yield response.follow("/raises", callback=self.raises)
        yield response.follow("/raises-late", callback=self.raises_late)
        yield response.follow("/copies-meta", callback=self.copies_meta)
        yield response.follow("/again", callback=self.asks_again)
        yield response.follow("/none", callback=self.nothing)

    def plain(self, response):
        yield {"name": response.url.removeprefix(self.site), "status": response.status}

    def named(self, response, name, numbers):
        yield {"name": "named", "given": name, "numbers": numbers}

    def meta(self, response):
        yield {"name": "meta", "shelf": response.meta["shelf"], "note": response.meta["note"]}

    def echo(self, response):
        yield {"name": "echo", **response.json()}

    def failed(self, failure):
        path = failure.request.url.removeprefix(self.site)
        yield {"name": "failure", "of": path, "why": type(failure.value).__name__}
        yield Request(self.url(f"/after{path}"), callback=self.plain)

    async def failed_async(self, failure):
        await asyncio.sleep(0)
        return list(self.failed(failure))

    def failed_raising(self, failure):
        raise RuntimeError("the errback is broken, too")

    def failed_returning(self, failure):
        return failure

    async def waits(self, response):
        await asyncio.sleep(0.01)
        yield {"name": "async"}
        yield response.follow("/after-async", callback=self.plain)

    async def returns_list(self, response):
        await asyncio.sleep(0.01)
        return [{"name": "coroutine"}, response.follow("/after-coroutine", callback=self.plain)]

    def raises(self, response):
        raise ValueError("on purpose")

    def raises_late(self, response):
        yield response.follow("/before-raising", callback=self.plain)
        raise ValueError("on purpose, late")

    def copies_meta(self, response):
        yield Request(self.url("/copied"), meta=dict(response.meta), callback=self.plain)
        yield {"name": "copies-meta"}

    def asks_again(self, response):
        if response.meta.get("again"):
            yield {"name": "again"}
        else:
            yield response.request.replace(dont_filter=True, meta={**response.meta, "again": True})


class ItemsPipeline:
    """Drops some items, fails on some, and is slow for all."""

    async def process_item(self, item):
        await asyncio.sleep(0.005)
        if item.get("fate") == "drop":
            raise DropItem("not wanted")
        if item.get("fate") == "break":
            raise ValueError("the pipeline is broken on purpose")
        return item


class Outputs:
    """A user's spider middleware, which adds an item."""

    async def process_spider_output(self, response, result):
        async for output in result:
            yield output
        if not response.url.endswith("/robots.txt"):  # the scheduler's own request
            yield {"fate": "from a middleware"}


class FatefulSpider(PlainSpider):
    """Yields items that the pipelines drop, fail on, or pass."""

    name = "fateful"
    custom_settings = {  # noqa: RUF012
        "ITEM_PIPELINES": {"tests.support.sites.plain.ItemsPipeline": 100},
        "SPIDER_MIDDLEWARES": {"tests.support.sites.plain.Outputs": 100},
    }

    async def start(self):
        yield {"fate": "from start"}
        yield Request(self.url("/"))

    def parse(self, response):
        for _ in range(60):
            yield {"fate": "pass"}
        yield {"fate": "drop"}
        yield {"fate": "break"}


class SlowFilter:
    """A user's downloader middleware, which refuses some requests and replaces others."""

    def process_request(self, request):
        if request.url.endswith("/refused"):
            raise IgnoreRequest("not today")
        if request.url.endswith("/replaced"):
            return request.replace(url=request.url.replace("/replaced", "/instead"))
        return None


class FilteredSpider(PlainSpider):
    name = "filtered"
    custom_settings = {"DOWNLOADER_MIDDLEWARES": {"tests.support.sites.plain.SlowFilter": 100}}  # noqa: RUF012

    async def start(self):
        for path in ("/refused", "/replaced", "/plain"):
            yield Request(self.url(path))

    def parse(self, response):
        yield {"at": response.url.removeprefix(self.site)}


class RulesSpider(CrawlSpider):
    """`-a site=`: follows all links except those to /skip, and yields an item for each page /item/N."""

    name = "rules"
    rules = (
        Rule(LinkExtractor(allow=r"/item/"), callback="parse_item", follow=True),
        Rule(LinkExtractor(deny=r"/skip")),
    )

    async def start(self):
        yield Request(self.site + "/")

    def parse_item(self, response):
        yield {"at": response.url.removeprefix(self.site), "title": response.css("title::text").get()}


class TreeSpider(PlainSpider):
    """Walks a tree of links; cb_kwargs has the number of each page."""

    name = "tree"

    async def start(self):
        yield Request(self.url("/1"), cb_kwargs={"number": 1})

    def parse(self, response, number):
        assert response.url == self.url(f"/{number}")
        yield {"number": number}
        for href in response.css("a::attr(href)").getall():
            yield response.follow(href, callback=self.parse, cb_kwargs={"number": int(href[1:])})


class KeepingSpider(PlainSpider):
    """Requests that JSON can't represent: an object in the meta, a callback that is not a method, a tuple."""

    name = "keeping"

    def parse(self, response):
        for number in range(3):
            yield response.follow(f"/object/{number}", callback=self.kept, meta={"kept": object()})
        yield response.follow("/function", callback=lambda response: {"at": "/function"})
        yield response.follow("/tuple", callback=self.kept, meta={"kept": (1, 2)})
        yield response.follow("/plain", callback=self.kept, meta={"kept": [1, 2]})

    def kept(self, response):
        yield {"at": response.url.removeprefix(self.site), "kept": type(response.meta["kept"]).__name__}


class PrioritiesSpider(PlainSpider):
    """Later requests of a page with a higher priority are sent first."""

    name = "priorities"

    def parse(self, response):
        for name, priority in (("low", -1), ("middle", 0), ("high", 1)):
            for number in range(4):
                yield response.follow(f"/{name}/{number}", callback=self.nothing, priority=priority)


class EnoughSpider(PlainSpider):
    """Has seen enough after a page, in a generator or in a function, and closes itself."""

    name = "enough"

    async def start(self):
        yield Request(self.url("/generator"), self.parse_generator)
        yield Request(self.url("/function"), self.parse_function)

    def parse_generator(self, response):
        yield {"at": "/generator"}
        raise CloseSpider("enough")

    def parse_function(self, response):
        raise CloseSpider("enough")

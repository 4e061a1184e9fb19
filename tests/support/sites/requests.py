"""A plain Scrapy spider that makes requests of many kinds and yields all that it sees of their responses."""

from scrapy import Request, Spider, signals
from scrapy.exceptions import StopDownload

PLAIN = ["/plain", "/chunked", "/closed", "/lost", "/old", "/nothing", "/empty", "/early", "/gzip"]
PLAIN += ["/%7Ea/../b//c?x=[1]&y=%zz", "/stopped", "/stopped-before", "/reset"]
KEPT = {"meta": {"download_fail_on_dataloss": False}}
SMALL = {"meta": {"download_maxsize": 100}}
REQUESTS = {  # by path: the arguments of the request
    **{path: {} for path in PLAIN},
    **dict.fromkeys(["/short", "/short-chunks"], KEPT),
    "/from": {"meta": {"bindaddress": ("127.0.0.9", 0)}},
    "/headed": {"method": "HEAD"},
    "/posted": {"method": "POST", "body": "a=b", "headers": {"Content-Type": "text/x"}},
    "/posted-bytes": {"method": "POST", "body": b"\0\xff" * 600_000},
    "/posted-nothing": {"method": "POST"},
    "/put": {"method": "PUT"},
    "/removed": {"method": "DELETE"},
    "/asked": {"body": "body of a GET"},
    "/headers": {"headers": {"X-A": ["1", "2"], "X-Empty": "", "X-Lines": "a\r\nInjected: b", "Host": "other.test"}},
    **dict.fromkeys(["/large", "/announced"], SMALL),
    "/slow": {"meta": {"download_timeout": 0.5}},
}


class RequestSpider(Spider):
    """Requests everything from *site*, by way of *proxy* if there is one."""

    name = "requests"
    custom_settings = {"RETRY_ENABLED": False, "HTTPERROR_ALLOW_ALL": True, "COMPRESSION_ENABLED": False}  # noqa: RUF012

    @classmethod
    def from_crawler(cls, crawler, *args, **kwargs):
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.stop_before, signals.headers_received)
        crawler.signals.connect(spider.stop_within, signals.bytes_received)
        return spider

    def stop_before(self, request, body_length):
        if request.url.endswith("/stopped-before"):
            request.meta["length"] = body_length
            raise StopDownload(fail=False)

    def stop_within(self, data, request):
        if request.url.endswith("/stopped"):
            raise StopDownload(fail=False)

    async def start(self):
        for path, arguments in REQUESTS.items() if not self.paths else ((path, {}) for path in self.paths.split()):
            given = {**arguments, "meta": {**arguments.get("meta", {}), "path": path, "verbatim_url": True}}
            if self.proxy:
                given["meta"]["proxy"] = self.proxy
            yield Request(self.site + path, errback=self.failed, dont_filter=True, **given)

    proxy = ""
    paths = ""
    site = ""

    def parse(self, response):
        yield {
            "path": response.meta["path"],
            "url": response.url.removeprefix(self.site),
            "status": response.status,
            "headers": {
                name.decode(): [value.decode("latin-1") for value in values]
                for name, values in sorted(response.headers.items())
            },
            "body": response.body.decode("latin-1"),
            "flags": response.flags,
            "protocol": response.protocol,
            "ip": str(response.ip_address),
            "certificate": response.certificate and response.certificate.serialNumber(),
            "has_latency": response.meta["download_latency"] > 0,
            "length": response.meta.get("length"),
        }

    def failed(self, failure):
        yield {"path": failure.request.meta["path"], "error": type(failure.value).__name__}

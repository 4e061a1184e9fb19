"""Scrapy's download handlers (DOWNLOAD_HANDLERS): HTTP with limits for hostile servers.

`http` chooses by HTTP_CLIENT between `bounded_http`, Scrapy's own client, and `curl_http`, libcurl. What both share is
in `targets`. Begin with `bounded_http`; tests/integration/test_http_clients.py compares the two.
"""

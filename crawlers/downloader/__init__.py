"""Scrapy's download handlers (DOWNLOAD_HANDLERS) and what belongs to them: HTTP with limits for hostile servers.

`http` chooses by HTTP_CLIENT between `bounded_http`, Scrapy's own client, and `curl_http`, libcurl. Both send requests
where `address_filter` allows it: private addresses are refused. `browser` renders pages.
"""

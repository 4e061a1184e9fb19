"""Webs to crawl on this machine, for `make demo`, for the documentation and for tests; nothing of it is installed.

* `server` serves the six sites of `webs`, or the ten of `town`.
* `demo` is the program behind `make demo`: it serves both, crawls them in four ways, and reports the results.
* `press` is a simulated press for news crawls, with a server and a clock of its own.

Responses are functions of site and path, of past requests (`town`) or of the time (`press`).
"""

"""What a news crawl computes: which pages are articles, which URLs may be, when feeds are polled, what is alarming.

Begin with `url_classifier` (is this URL an article?) and `poll_plan` (when is each feed polled again?).
"""

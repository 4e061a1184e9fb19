"""What a person reads about a crawl: the history of a URL, tables, searches, charts. Queries of the store only.

`figures` makes the figure of every chart and writes its file; `news_curves` and `yield_chart` draw on it.
"""

"""Reports about a crawl for people: URL histories, tables, searches, charts. They only query the store.

`figures` creates the figure of every chart and writes its file; `pictures.picture` draws pictures on it.
"""

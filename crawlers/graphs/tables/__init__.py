"""The tables of a site's URLs and links that people open in a spreadsheet; begin with `result_tables`.

All are read from the store and streamed; each is a function of the web, like the graphs, so that two crawls of an
unchanged site give identical files. "First" always means the page with the lowest level, then the lowest URL.
"""

"""Pictures of a crawl, found by name: curves and bars that the panel draws, with their data.

Begin with `picture.py`, the contract, and `page_pictures.py`, examples; `web.pages.picture_pages` names them all. A
picture is a function of the store: the database counts and sums, so a picture of 10^6 pages has some hundred points.
"""

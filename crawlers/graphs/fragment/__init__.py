"""The model of a web fragment: which of the crawled sites link to each other, and to which sites outside."""

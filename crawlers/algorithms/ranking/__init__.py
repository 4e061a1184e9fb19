"""Which page of a site next: the orders that ORDER selects, and importance by links.

`page_orders` is the registry; `page_scores` the protocol of orders whose scores change while URLs wait (`opic`,
`adaptive_opic`, `news_scores`, `topic_scores`). `hits` and `push_pagerank` rank known links.
"""

"""Which page of a site is crawled next: the orders that ORDER selects, and importance by links.

Begin with `page_orders`, the registry. `page_scores` is the base of orders whose scores change
while URLs wait (`opic`, `news_scores`, `topic_scores`). `link_values` learns what links bring, and
`link_relevance` how relevant the pages behind them are, from their `link_features`. `link_ranks` ranks the pages
of stored graphs.
"""

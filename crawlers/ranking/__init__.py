"""Which page of a site is crawled next: the orders that ORDER selects, and importance by links. Pure.

Begin with `page_orders`, the registry. `page_scores` is the base of orders whose scores change while URLs wait, such as
`opic`. `link_values` learns what links bring from their `link_features`.
"""

"""Rules that say "this URL is an article": learnt from labelled URLs, tested many at once.

`rule_learner` makes the rules of one domain (by `pattern_tree`); `rule_set` tests URLs against all of a domain's.
`url_expressions` says what an expression may be, and matches several at once.
"""

"""Rules that classify URLs as articles: learnt from labelled URLs, matched many at once.

`rule_learner` learns the rules of one domain (with `pattern_tree`); `rule_set` matches URLs against all rules of a
domain. `url_expressions` defines valid expressions, and matches several at once.
"""

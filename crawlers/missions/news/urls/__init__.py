"""Is a URL an article? Rules that people write or the crawl learns, and a classifier.

Begin with `rule_learner`, which learns the rules of one domain (with `pattern_tree`), and `rule_set`, which matches a
URL against all rules of its domain; `url_classifier` judges without rules.
"""

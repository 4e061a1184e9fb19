"""Relevance to a topic: of texts, by their terms, and of the pages behind links, by what was learnt.

Begin with `vectors`, which compares texts with a topic; `terms` turns a text into term counts. `link_learner` computes
the value of links with a `link_model`.
"""

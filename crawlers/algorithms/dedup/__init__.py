"""Detects duplicates and near-duplicates of documents.

Begin with `document_fingerprints`, the keys by which documents are compared; `simhash` finds near-duplicate texts.
"""

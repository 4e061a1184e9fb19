"""Detects duplicates and near-duplicates of documents.

Begin with `document_fingerprints`, by which documents are compared; `document_copies` keeps the families.
"""

"""Verdicts, records, the reply reader and the statistics: knows no harness, no image, no file layout."""

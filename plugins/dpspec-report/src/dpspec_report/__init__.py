"""Figures, HTML and Markdown pages, and SARIF of what dpspec computes."""

"""One HTML page of everything in a folder of results: every table with its picture, and what stands behind them.

`sheets.py` finds the tables and reads them, `pictures.py` takes their drawings in, `runs.py` sums up the result files,
`page.py` puts it all together. Nothing is measured here. What is damaged does not break the page: it is named there.
"""

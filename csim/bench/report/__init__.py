"""One HTML page of a folder of results: every table with its picture, and the runs behind them.

`sheets.py` finds and reads the tables, `pictures.py` embeds their pictures, `runs.py` sums up the
runs, and `page.py` puts the page together. Nothing is measured here. A damaged file does not break
the page: the page names it.
"""

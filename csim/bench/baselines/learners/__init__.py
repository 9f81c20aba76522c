"""Metric learners to compare our vectors with: estimators with `fit`, `transform` and `get_params`, as in scikit-learn.

`knn` is how all of them are scored, `base` what they share; then one file each: `lmnn`, `gb_lmnn`, `hdml`, `sklr`.
"""

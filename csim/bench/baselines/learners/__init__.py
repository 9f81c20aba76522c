"""Metric learners that csim's vectors are compared with.

They are scikit-learn estimators with `fit`, `transform` and `get_params`. `base` holds what they
share and `knn` scores them. Then there is one file each: `lmnn`, `gb_lmnn`, `hdml` and `sklr`.
"""

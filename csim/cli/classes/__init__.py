"""`csim classes`: list, add, rename, merge and remove classes."""

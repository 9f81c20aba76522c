"""`csim classes`: list, add, rename, merge, remove and restore classes."""

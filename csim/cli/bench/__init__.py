"""`csim bench`: measure methods on streams and make the published tables and figures."""

"""How csim is measured: data sets, streams, one evaluation loop, tables."""

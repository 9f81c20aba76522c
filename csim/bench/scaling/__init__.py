"""How csim is measured past one machine: the coordinator alone, workers, and a node that dies."""

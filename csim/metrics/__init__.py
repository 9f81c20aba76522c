"""Metrics: pure functions from an event log and the truth to figures."""

"""Measure the service: how fast it answers under load, and what a kill loses."""

"""Measure durability on real stream folders: whether anything is lost, and what that costs."""

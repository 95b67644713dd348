"""Puts this folder on the path of all tests below it: they share surface.py, programs.py and suites.py."""

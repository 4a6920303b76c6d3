"""The benchmarks, a module each, and `runner`, which runs them.

A case has its OPTIONS, and `candidates`, which prepares the data and returns what takes turns.
"""

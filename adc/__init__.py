"""Compiled gradients of plain Python and NumPy functions."""

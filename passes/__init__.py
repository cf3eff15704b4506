"""Passes over the IR: each is a pure function from a function to a function."""

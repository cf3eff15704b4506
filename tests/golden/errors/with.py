# mypy: ignore-errors
# ruff: noqa
import threading

ARGS = (1.5,)
LOCK = threading.Lock()


def program(x):
    with LOCK:  # ADC031: `with` of
        return x

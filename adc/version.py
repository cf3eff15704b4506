"""The version of adc."""

__version__ = "0.1.0"

"""Pictures and tables of what adc makes of a function."""

"""Plans, graphs and tables that show how adc compiles a function."""

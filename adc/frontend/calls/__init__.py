"""Calls: functions, methods, Python's builtins, and functions that are not looked into.

In reading order:

===============  =================================================================================
`calls`          dispatch on the callee: a known function, a method, an instance, an inner function
`definitions`    `class` inside a function
`standard`       `functools`, `operator`, `copy`
`fields`         `dataclasses`
`builtin`        Python's builtin functions
`drawing`        `iter` and `next`
`sorting`        `sorted`
`reflection`     those that ask for kinds and attributes: `isinstance`, `getattr`, `super`
`sets`           sets: construction, methods and operators
`outside`        calls of Python functions that are not looked into
`rules`          the functions of a custom derivative
`custom`         calls of functions that have one, and of those of `adc.external`
`communication`  messages between the ranks of an MPI program
`effects`        what a program prints, logs and warns of, and clocks
`fourier`        `np.fft` and `scipy.fft`
===============  =================================================================================
"""

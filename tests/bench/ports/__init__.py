"""The kernels as users of other tools write them: a module each."""

"""From the buffer form to readable Python source, and from there to machine code by Numba."""

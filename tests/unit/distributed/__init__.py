"""`adc.distributed`: `test_shards` by threads and processes, `test_dask` on a cluster of Dask's,
`test_ray` on Ray.

What is added over shards is in `losses`, a module that workers import. `test_mpi` starts the
programs of `mpi_programs` with several ranks.
"""

"""`adc.distributed`: sums over shards, in this process, in others and on a cluster of Dask's."""

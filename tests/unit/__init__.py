"""Tests of one part each; folders are those of the sources: `ir`, `passes`, `frontend`, `backend`,
`cli`, `inspect`, `view`, `library`, `api` and `distributed` for what users import, and `bench` for
the benchmarks.
"""

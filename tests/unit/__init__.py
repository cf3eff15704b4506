"""Tests of one part each; folders are those of the sources: `ir`, `passes`, `frontend`, `backend`,
`cli`, `inspect`, `view`, `library`, `api` for what users import, and `bench` for the benchmarks.
"""

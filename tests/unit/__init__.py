"""Tests of one part each; folders are those of the sources: `ir`, `passes`, `frontend`, `backend`,
`cli`, `inspect`, `library`, `api` for what users import, and `bench` for the benchmarks.
"""

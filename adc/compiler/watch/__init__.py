"""Calls that are watched: what they take, and where they lose what is right.

=============  ===================================================================================
`profile`      where the time and the memory of calls go, by line
`nonfinite`    where the NaNs and infinities of a call arise
`digits`       where a call loses digits
=============  ===================================================================================

The last two look at every run of compiled code (`compiled.WATCH`).
"""

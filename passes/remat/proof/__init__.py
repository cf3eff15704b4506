"""Proofs that rematerialized code is right, by code that shares nothing with the rewriting.

=================  =============================================================================
`availability`     every value that reverse code reads equals the forward value it replaces
`tape`             frames are popped in the reverse order of their pushes
`versions`         arrays restored by inverse operations equal the versions they replace
=================  =============================================================================
"""

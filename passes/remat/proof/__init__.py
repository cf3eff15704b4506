"""Proofs that rematerialized code is right, by code that shares nothing with what made it.

=================  =============================================================================
`availability`     every value that reverse code reads is the forward value it stands for
`tape`             what is pushed is popped, in reverse order
`versions`         arrays that were restored by inverse operations are the versions they stand for
=================  =============================================================================
"""

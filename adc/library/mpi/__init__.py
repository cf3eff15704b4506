"""MPI inside of differentiated code: the methods of mpi4py's communicators.

=============  =====================================================================================
`channels`     communicators at run time: waiting for other ranks, sums in a fixed order
`native`       an exchange of messages in machine code
`ranks`        communication at run time: what compiled code calls
`operations`   linear operations on vectors, and their rules: the transpose of each is another one
`methods`      the methods of a communicator and of a request, in terms of these
=============  =====================================================================================

Reverse code communicates the other way: the cotangent of what was received is sent back to the
sender, that of a broadcast is reduced. The rules are those of J. Utke et al., "Toward adjoinable
MPI" (IPDPS 2009), and M. Schanen et al., "Interpretative adjoints for numerical simulation codes
using MPI" (ICCS 2010): a wait is reversed by the beginning of a message, and its beginning by the
wait. So reverse code does not block where the program does not.

Two things keep ranks together. Each operation has a float with which it is *in order*: it takes it
and returns it. So reverse code has the operations in reverse, whatever plan it follows. And each is
differentiated `always` (`ir.core.CustomRule`), even where nothing on this rank depends on what is
differentiated: another rank waits for it.
"""

"""The rules of inference that ship with the core: one module for each block of a specification.

What is *not* here, because it is no statement about two specifications:

* Post-processing that reads only invariants (B-T16). If T satisfies S inside the universes of c, so does any f(T(x), c(x)): the
  mechanism changes and S does not. Outside those universes nothing follows, and no rule here makes a universe larger.
* Amplification by secret sampling (B-T21, B-S17). T(sample(x)) satisfies another specification than T, on another space, and
  the statement names the scheme and the neighbour relation together: a property of a mechanism, judged by the exact engine.
* Composition. Two mechanisms go in: a ledger composes them.
"""

"""Statistical refutation of black boxes: plain functions of a dataset and a generator, verified by their outputs alone.

    outputs   what came out, as a shape and numbers       events    sets of outputs, with their text
    null      the laws that a claim allows; e-variables   search    the event that grows fastest
    pairs     which datasets are compared                 screen    which pairs deserve more draws
    calls     running the function under guard            wealth    betting against the claim, any-time valid
    witness   shrinking, with fresh draws at every gate   engine    `refute`, the entry

Nothing here is imported by `import dpspec`: it needs numpy.
"""

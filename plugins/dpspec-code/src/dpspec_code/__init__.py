"""The first-party judge of plain functions: verified by reading and running their code, or refuted by sampling it.

    judge        `CodeJudge`, the entry
    case         one function and one claim: which stage comes when, in which part of the time
    functions    a function loaded by name, and handed datasets and randomness as it wants them
    apart, clock, fingerprint, sandbox, named, worker     calls in processes of their own, under one budget of time
    trial, second, beyond, bits, replay                   the stages: first calls, second opinion, one pair, doubles, replay
    automatic    the law that is read off the code: choices enumerated, noise as symbols, all datasets at once
    sampled      refutation by draws alone
"""

DPSPEC_API = 1

"""First-party verifier of plain functions: verified by analysing and running their code, or refuted by sampling.

    judge        `CodeJudge`, the entry point
    case         one function and one claim: the order of the stages, and the time of each
    functions    a function loaded by name, and called with datasets and randomness of the types that it expects
    child_process, clock, fingerprint, sandbox, named_function, worker    calls in separate processes, under one time limit
    trial, crosscheck, refutation, bits, replay    the stages: first calls, comparison with real runs, one pair, doubles, replay
    automatic    the law derived from the code: choices enumerated, noise as symbols, all datasets at once
    sampled      refutation by draws alone
"""

DPSPEC_API = 1

"""A public score: how people write noise in Python, what libraries draw, and which numbers other accountants publish.

    python -m benchmarks.wild [--only NAME,NAME] [--seconds 30] [--kind functions,libraries,vectors] [--missing] [--write]

* Functions: idioms of public repositories, rewritten. The files of `idioms/` have for each the claim, the truth with its reason, and a
  pointer to a place where the idiom occurs. Each is given to `dpspec.verify` as a user gives it: the function and the claim alone.
* Libraries: mechanisms of OpenDP and diffprivlib, through the models of dpspec-adapters, in the same form in `mechanisms/`.
* Vectors: numbers from the test suites of other projects, with their sources, in `vectors.toml`.

Claims are exact numbers, and the code computes in doubles: what a correct function exceeds its claim by is below 2^-40 of it.
"""

"""`python -m benchmarks.wild`: see `benchmarks.wild.run`."""

from benchmarks.wild.run import main

if __name__ == "__main__":
    main()

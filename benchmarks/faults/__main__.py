"""`python -m benchmarks.faults`: see `benchmarks.faults.run`."""

from benchmarks.faults.run import main

if __name__ == "__main__":
    main()

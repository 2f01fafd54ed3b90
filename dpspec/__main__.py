"""``python -m dpspec``: the command line."""

from dpspec.cli import main

if __name__ == "__main__":
    main(prog_name="dpspec")

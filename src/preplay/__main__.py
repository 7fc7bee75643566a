"""`python -m preplay` is the command `preplay`."""

from preplay.cli import main

if __name__ == "__main__":
    main()

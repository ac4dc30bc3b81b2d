"""`python -m rocky.cli`: the command `rocky` without its script."""

from rocky.cli.app import main

main()

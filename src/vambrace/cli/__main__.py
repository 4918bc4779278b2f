"""`python -m vambrace.cli`."""

from vambrace.cli import main

main()

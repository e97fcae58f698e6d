"""`python -m regard` is `regard`."""

from regard.cli import main

main(prog_name="regard")

"""`python -m nhmech` is the command `nhmech`."""

from .cli import main

if __name__ == "__main__":
    main(prog_name="nhmech")

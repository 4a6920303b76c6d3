"""``python -m packer``: the same as the command ``packer``."""

from packer.cli.main import main

if __name__ == "__main__":
    main()

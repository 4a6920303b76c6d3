"""One module a command: its options, and what it prints. Only here does packer print.

A command returns its exit code; imports that cost time wait until it runs, so that ``--help`` is
instant.
"""

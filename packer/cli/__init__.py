"""One module a command: its options, and what it prints. Only here does packer print.

A command returns its exit code; imports that cost time wait until it runs, so that ``--help`` is
instant. `main` turns errors into sentences and exit codes; the sentences are in `packer.errors`.
`params` has options that several commands share, and makes click's of those in `packer.options`;
`sections` orders the help, `output` prints and names files, `pack_output` is what `pack` reports,
`explain` what it understands, `plan_output` what `plan` prints, `bench_plot` draws what `bench`
measured; `bench`, `export`, `extract`, `index`,
`info`, `pack`, `plan`, `repair`, `report` and `verify` are the commands.
"""

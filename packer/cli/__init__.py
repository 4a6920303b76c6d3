"""The commands: their options, and what they print. packer prints only here.

A command returns its exit code; imports that cost time wait until it runs, so that ``--help`` is
instant. `main` turns errors into sentences and exit codes; the sentences are in `packer.errors`.
`params` has options that several commands share, and makes click's of those in `packer.options`;
`output` prints by ``--json`` and ``--quiet``, and names files; `pack_output` prints what `pack`
reports. `bench`, `pack` and `plan` are commands; `info` has report, too, and `dataset` verify,
repair, index, export and extract.
"""

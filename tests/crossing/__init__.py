"""Sources x options of packing x fields, options and transforms of a Loader: all pairs.

What is true of a sample is drawn into its picture (`scenes`), a source writes it in its form
(`sources`), it is packed with an option (`options`) and read in some way (`fields`, `loading`,
`transforms`), and each delivered sample is judged by its own pixels (`judge`). `covering` chooses
the cases; `exceptions` lists what is refused, and what is known to be wrong.
"""

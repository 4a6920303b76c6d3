"""Start and end processes: executed, or forked from one that has loaded its modules.

`child` is the parent's handle of a process, `fork_server` the process that it is forked from.
"""

"""How a process is started and ended: executed, or forked from one that has loaded its modules.

`child` is a process as its parent sees it, `fork_server` the process that it is forked from.
"""

"""Start, watch and replace the processes that decode.

`pool` is the parent's side, `process` its handle of one worker, and `worker` the worker's side.
`setup_file` is what workers begin with, `messages` the protocol from then on, `queue` delivers
tasks, and `progress` records the current sample of each worker. `carried` sends exceptions of the
user's code to the loop. `serial` runs the tasks without workers.
"""

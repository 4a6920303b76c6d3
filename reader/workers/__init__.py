"""The processes that decode: started, fed, watched and replaced.

`pool` is the parent's side, `process` one worker seen from it, `fork_server` the process that it is
forked from, `worker` the worker's own side, `messages` what they say to each other, `queue` the way
of tasks, `progress` which sample each worker holds, `stall` notices that none gets on. `carried`
brings what the user's code raised to the loop. `serial` does the tasks where there are none.
"""

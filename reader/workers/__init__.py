"""The processes that decode: started, fed, watched and replaced.

`pool` is the parent's side, `process` one worker seen from it, `worker` the worker's own side,
`messages` what they say to each other, `queue` the way of tasks, `progress` which sample each
worker holds. `carried` brings what the user's code raised to the loop. `serial` does the tasks
where there are no workers.
"""

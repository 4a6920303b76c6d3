"""Statistics of a loader, its bottleneck, and reports on bad samples and stalled workers.

`counters` adds up counts and times, `statistics` formats them, `bad_samples` limits unreadable
samples, and `stalls` reports workers without progress.
"""

"""Tars of samples: `source` reads them, `shard_lists` tells their splits, `parts` joins splits."""

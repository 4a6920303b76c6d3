"""How long an epoch takes, and what holds it back, from known rates (pure)."""

from dataclasses import dataclass

from packer.inspect.plan.setting import Setting
from packer.inspect.plan.traffic import Traffic


@dataclass(frozen=True)
class Times:
    """Seconds of an epoch, by who needs them: decode, store (its bytes, its requests), consumer.

    What is not known is left out, and the store where nothing is asked of it. All work at a time,
    so the longest is the epoch's.
    """

    seconds: dict[str, float]

    @property
    def longest(self) -> float | None:
        """Seconds of the epoch; None where nothing is known."""
        return max(self.seconds.values(), default=None)

    @property
    def bound_by(self) -> str:
        """What takes longest; empty where nothing is known."""
        return max(self.seconds, key=self.seconds.__getitem__, default="")


def times(setting: Setting, samples: int, traffic: Traffic) -> Times:
    """Of a node.

    Args:
        samples: that its ranks read.
        traffic: of the node.
    """
    found = {}
    if rate := setting.rate.value:
        found["decode"] = samples / rate
    if traffic.requests and (bandwidth := setting.bandwidth.value):
        found["store, bytes"] = traffic.bytes / bandwidth
    if traffic.requests and (latency := setting.latency.value):
        rounds = max(traffic.requests / max(traffic.in_flight, 1), 1)  # no answer comes sooner
        found["store, requests"] = rounds * latency
    if gpu_rate := setting.gpu_rate.value:
        found["consumer"] = samples / (gpu_rate * setting.ranks)
    return Times(found)

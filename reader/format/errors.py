"""The root of the one exception tree of packer and reader."""


class ShardfeedError(Exception):
    """Everything that packer and reader raise on purpose; its text is a sentence for a person."""


class FormatError(ShardfeedError):
    """A shard, an index or a dataset.json does not follow the format."""

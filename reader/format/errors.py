"""The root of the one exception tree of packer and reader, and what says why bytes are no image."""


class ShardfeedError(Exception):
    """Everything that packer and reader raise on purpose; its text is a sentence for a person.

    Example:
        >>> try:
        ...     reader.Dataset("nowhere")
        ... except reader.ShardfeedError as error:
        ...     print(type(error))
        <class 'reader.FormatError'>
    """

    __module__ = "reader"


class FormatError(ShardfeedError):
    """A shard, an index or a dataset.json does not follow the format.

    Example:
        >>> try:
        ...     reader.Dataset("images")
        ... except reader.FormatError as error:
        ...     print(error)
        /.../images is not a data...
    """

    __module__ = "reader"


class DecodeError(ValueError):
    """The bytes do not decode to the image that the index describes; its text is the reason."""

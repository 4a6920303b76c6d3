"""The root of the exception tree of packer and reader, and the error of an undecodable image."""


class ShardfeedError(Exception):
    """The base of all errors that packer and reader raise on purpose.

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
    """The bytes are not the image that the index describes; the text is the reason."""

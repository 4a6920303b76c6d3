"""Packs a folder of images, once and offline, into sharded WebDataset tars with indexes."""

from reader import __version__ as __version__

"""Packs a folder of images, once and offline, into sharded WebDataset tars with indexes."""

__version__ = "0.1.0"

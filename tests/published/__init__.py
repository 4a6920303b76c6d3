"""Layouts of other people: none of them was looked at when the recognisers were written."""

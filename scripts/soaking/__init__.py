"""What soak.py does in its rounds: one module packs, one reads, the others disturb and judge."""

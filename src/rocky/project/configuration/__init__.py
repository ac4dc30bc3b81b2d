"""What `rocky.toml`, sidecars and front matter may say: one record a block, and further rules."""

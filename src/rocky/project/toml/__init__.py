"""TOML with places: text -> values, variables resolved -> typed records, mistakes at their line."""

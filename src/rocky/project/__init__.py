"""Projects on disk: configuration, models, sources, seeds and contracts, validated here and trusted afterwards."""

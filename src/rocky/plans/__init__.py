"""Plans that are kept: what a run would do, under the hash of it; carried out, or refused."""

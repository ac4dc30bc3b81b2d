"""Whether two query texts compute the same: normal forms of texts, digests of columns."""

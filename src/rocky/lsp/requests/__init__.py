"""What editors ask, one file a kind of request; the list is in `rocky.lsp.requests.table`."""

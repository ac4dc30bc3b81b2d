"""The language server: JSON-RPC in, findings and answers out; the compiler below knows."""

"""One renderer per output format over one Diagnostic value."""

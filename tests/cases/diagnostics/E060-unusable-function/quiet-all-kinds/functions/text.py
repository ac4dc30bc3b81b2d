def masked(text):
    return None if text is None else "*" * len(text)

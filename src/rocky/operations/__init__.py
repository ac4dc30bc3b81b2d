"""Operations: one module for each thing a person can ask of Rocky; every gate lives here."""

"""dbt projects, read and written down as projects of Rocky's: files in, files out.

Nothing here evaluates a template outside the sandbox, connects to a database or reads
`profiles.yml`.
"""

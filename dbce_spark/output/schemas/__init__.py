"""Arrow schemas of all tables, also of those that stages pass on, and the conversion between them and the model.

docs/tables.md says what each column means. Nothing here knows Spark, which gets these schemas translated.
"""

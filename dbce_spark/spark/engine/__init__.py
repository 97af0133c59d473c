"""The set-up of Spark and of its Python workers, whatever the stage."""

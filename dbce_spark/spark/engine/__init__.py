"""How Spark and its Python workers are set up and fed, whatever the stage."""

"""Making the function catalogue: questions to Spark, and the rules its answers fit."""

"""Tables to be published, held to rules of statistical disclosure control."""

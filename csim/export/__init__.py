"""Write labels, pictures and models for other tools, and read people's answers from them."""

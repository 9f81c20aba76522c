"""Labels, pictures and models of a stream folder for other tools, and people's answers back from them."""

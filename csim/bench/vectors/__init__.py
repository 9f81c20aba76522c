"""What a network or a metric learner makes of images: spaces, distances, projections and scores."""

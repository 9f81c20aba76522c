"""Growing past one machine: images from Redis Streams, and workers that decode and embed."""

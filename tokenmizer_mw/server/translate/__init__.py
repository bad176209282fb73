"""Translation of chat calls between API dialects: the request one way, the reply (streamed or not) the other way."""

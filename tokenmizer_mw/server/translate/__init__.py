"""Translation of chat calls between API formats (dialects): the client's request into the provider's format, and the
provider's reply, streamed or not, into the client's."""

"""Judgement: what messages say, as findings, and what findings change, as events. Pure."""

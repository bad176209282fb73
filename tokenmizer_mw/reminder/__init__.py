"""What a request carries, behind its newest question, of what a cut took out: see ``service``."""

from tokenmizer_mw.reminder.service import ReminderService, Shortening, reminded

__all__ = ["ReminderService", "Shortening", "reminded"]

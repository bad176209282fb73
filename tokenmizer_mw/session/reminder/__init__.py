"""Reminders: texts that are added to a request. A reminder states what a cut removed from the chat and the newest
message asks about: facts and quoted passages."""

from tokenmizer_mw.session.reminder.carried import CarriedReminder, CarriedReminders, reminder_events
from tokenmizer_mw.session.reminder.question import add_question
from tokenmizer_mw.session.reminder.service import ReminderService, Shortening

__all__ = ["CarriedReminder", "CarriedReminders", "ReminderService", "Shortening", "add_question", "reminder_events"]

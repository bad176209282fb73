"""Reminders: what a cut removed and the newest question asks for, added to the request. See ``service``."""

from tokenmizer_mw.session.reminder.carried import CarriedReminder, CarriedReminders, reminder_events
from tokenmizer_mw.session.reminder.question import add_question
from tokenmizer_mw.session.reminder.service import ReminderService, Shortening

__all__ = ["CarriedReminder", "CarriedReminders", "ReminderService", "Shortening", "add_question", "reminder_events"]

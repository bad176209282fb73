"""What a request carries, behind its newest question, of what a cut took out: see ``service``."""

from tokenmizer_mw.session.reminder.carried import Carried, CarriedReminders, reminded
from tokenmizer_mw.session.reminder.question import add_question
from tokenmizer_mw.session.reminder.service import ReminderService
from tokenmizer_mw.session.reminder.shortening import Shortening

__all__ = ["Carried", "CarriedReminders", "ReminderService", "Shortening", "add_question", "reminded"]

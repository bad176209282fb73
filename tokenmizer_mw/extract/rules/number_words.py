"""Words for numbers and days of the week in several languages, with their values."""

from __future__ import annotations

from typing import Final

_NUMBERS: Final = (
    "one two three four five six seven eight nine ten eleven twelve",
    "ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
    "une deux trois quatre cinq six sept huit neuf dix onze douze",
    "una dos tres cuatro cinco seis siete ocho nueve diez once doce",
    "um dois três quatro cinco seis sete oito nove dez onze doze",
    "un due tre quattro cinque sei sette otto nove dieci undici dodici",
    "один два три четыре пять шесть семь восемь девять десять одиннадцать двенадцать",
    "одна две трёх четырёх пяти шести семи восьми девяти десяти одиннадцати двенадцати",
    "一 两 三 四 五 六 七 八 九 十",
    "uma duas",
    "eine",
    "un",
    "uno",
    "ek do teen char paanch chhe saat aath nau das",
)
_TENS: Final = {
    "fifteen": 15,
    "twenty": 20,
    "thirty": 30,
    "forty": 40,
    "fifty": 50,
    "sixty": 60,
    "ninety": 90,
    "fünfzehn": 15,
    "zwanzig": 20,
    "dreißig": 30,
    "vierzig": 40,
    "quinze": 15,
    "vingt": 20,
    "trente": 30,
    "quince": 15,
    "veinte": 20,
    "treinta": 30,
    "vinte": 20,
    "trinta": 30,
    "venti": 20,
    "trenta": 30,
    "пятнадцать": 15,
    "двадцать": 20,
    "тридцать": 30,
}
NUMBERS: Final = {word: str(at) for row in _NUMBERS for at, word in enumerate(row.split(), 1)} | {
    word: str(number) for word, number in _TENS.items()
}
"""Maps words for numbers up to 90 in several languages to digits: "three" to "3". Of the numbers above twelve, only
some are listed."""

_WEEK: Final = (
    "montag dienstag mittwoch donnerstag freitag samstag sonntag",
    "lundi mardi mercredi jeudi vendredi samedi dimanche",
    "lunes martes miércoles jueves viernes sábado domingo",
    "lunedì martedì mercoledì giovedì venerdì sabato domenica",
    "segunda terça quarta quinta sexta sábado domingo",
    "понедельник вторник среда четверг пятница суббота воскресенье",
    "понедельникам вторникам средам четвергам пятницам субботам воскресеньям",
    "понедельника вторника среду четверга пятницу субботу воскресенья",
    "周一 周二 周三 周四 周五 周六 周日",
    "月曜 火曜 水曜 木曜 金曜 土曜 日曜",
)
_ENGLISH: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
DAYS: Final = {word: day for row in _WEEK for word, day in zip(row.split(), _ENGLISH, strict=True)}
"""Maps names of weekdays in other languages to the English names ("montag" to "monday")."""

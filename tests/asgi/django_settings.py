"""Django's settings exist once in a process: each test that needs others puts them over what is there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import django
from django.conf import settings
from django.test import override_settings


@contextmanager
def django_with(urls: str, middleware: Sequence[str] = ()) -> Iterator[None]:
    """Django set up, with the routes of the module ``urls`` and these middlewares."""
    if not settings.configured:
        settings.configure()
        django.setup()
    with override_settings(ALLOWED_HOSTS=["*"], ROOT_URLCONF=urls, MIDDLEWARE=list(middleware)):
        yield

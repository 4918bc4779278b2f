"""The dashboard: pages for people, made from the same experiments."""

from fastapi import FastAPI


def install(app: FastAPI) -> None:
    """Add the pages to an application."""

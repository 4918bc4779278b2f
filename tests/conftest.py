"""Fixed seeds everywhere: a test passes today exactly if it passes tomorrow. And a browser to look at pages."""

from hypothesis import settings

from browser import chromium, visit  # noqa: F401 (fixtures)

settings.register_profile("fixed", derandomize=True, deadline=None)
settings.load_profile("fixed")

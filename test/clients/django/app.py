"""A Django application with a page that requires sign-in. Usage: `app.py <settings> <port>`.

`<settings>` is a file with the settings in docs/connecting/mozilla-django-oidc.md.
"""

import runpy
import sys
from wsgiref.simple_server import make_server

import django
from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.core.management import call_command
from django.core.wsgi import get_wsgi_application
from django.http import JsonResponse
from django.urls import include, path


def profile(request):
    if not request.user.is_authenticated:
        return JsonResponse({"email": None})
    return JsonResponse({"email": request.user.email})


if __name__ == "__main__":
    given = {name: value for name, value in runpy.run_path(sys.argv[1]).items() if name.isupper()}
    settings.configure(
        ALLOWED_HOSTS=["localhost"],
        DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": f"{sys.argv[1]}.sqlite"}},
        DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
        INSTALLED_APPS=[
            "django.contrib.auth",
            "django.contrib.contenttypes",
            "django.contrib.sessions",
            "mozilla_django_oidc",
        ],
        MIDDLEWARE=[
            "django.contrib.sessions.middleware.SessionMiddleware",
            "django.contrib.auth.middleware.AuthenticationMiddleware",
        ],
        ROOT_URLCONF=__name__,
        SECRET_KEY="only-for-the-tests",
        USE_TZ=True,
        **given,
    )
    django.setup()
    urlpatterns = [
        path("oidc/", include("mozilla_django_oidc.urls")),
        path("", login_required(profile)),
        path("profile", profile),
    ]
    call_command("migrate", verbosity=0)
    make_server("127.0.0.1", int(sys.argv[2]), get_wsgi_application()).serve_forever()

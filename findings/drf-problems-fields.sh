#!/bin/sh
# drf-problems 1.0.5 with Django REST framework 3.18.3 (PyPI): a refusal of a body whose fields are called title and note.
# Guess: the answer names both fields that are wrong, beside the members of Problem Details (RFC 9457).
# Seen: the members are written over the fields of the same name: of `title` only "Invalid input." is left, and nothing says
# that the field is wrong. So it is with fields called `type` and `status`. Without the handler both are named.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check drf-problems==1.0.5 djangorestframework==3.18.3 django==5.2.19
cat >look.py <<'PY'
import sys
import django
from django.conf import settings

handler = sys.argv[1]
settings.configure(
    ALLOWED_HOSTS=['*'], ROOT_URLCONF='__main__', INSTALLED_APPS=['django.contrib.contenttypes', 'rest_framework', 'drf_problems'],
    REST_FRAMEWORK={'EXCEPTION_HANDLER': handler, 'DEFAULT_AUTHENTICATION_CLASSES': [], 'UNAUTHENTICATED_USER': None},
)
django.setup()
from django.test import Client
from django.urls import include, path
from rest_framework import VERSION, serializers
from rest_framework.views import APIView

class Todo(serializers.Serializer):
    title = serializers.CharField(max_length=5)
    note = serializers.CharField(max_length=5)

class Todos(APIView):
    def post(self, request):
        Todo(data=request.data).is_valid(raise_exception=True)

urlpatterns = [path('', include('drf_problems.urls')), path('todos', Todos.as_view())]
answer = Client().post('/todos', {'title': 'too long', 'note': 'too long'}, content_type='application/json')
print(handler, VERSION, answer.status_code, answer.headers['content-type'], answer.content.decode())
PY
for handler in drf_problems rest_framework.views; do
  env/bin/python look.py "$(echo $handler | sed 's/^drf_problems$/drf_problems.exceptions/').exception_handler" 2>log || cat log
done | tee seen
grep -q '^drf_problems.*"note":\["Ensure.*"title":"Invalid input."' seen && ! grep -q '^drf_problems.*"title":\[' seen
grep -q '^rest_framework.*"title":\["Ensure.*"note":\["Ensure' seen

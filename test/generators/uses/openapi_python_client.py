import os

from error_demo import Client
from error_demo.api.todos import complete_todo
from shared_list import AuthenticatedClient
from shared_list.api.todos import create_todo, get_todo, replace_todo
from shared_list.models import CreateTodo, HttpValidationProblemDetails, ProblemDetails, ReplaceTodo, TodoResponse

client = AuthenticatedClient(base_url=os.environ["TODO_LIST_URL"], token=os.environ["TODO_TOKEN"])
created = create_todo.sync(client=client, body=CreateTodo(title="Buy milk", category_id=2))
assert isinstance(created, TodoResponse) and created.done is False
read = get_todo.sync_detailed(created.id, client=client)
assert read.parsed == created
bread = ReplaceTodo(title="Buy bread", category_id=1)
for status in 204, 412:
    replaced = replace_todo.sync_detailed(created.id, client=client, body=bread, if_match=read.headers["ETag"])
    assert replaced.status_code == status
invalid = create_todo.sync(client=client, body=CreateTodo(title="", category_id=2))
assert isinstance(invalid, HttpValidationProblemDetails) and list(invalid.errors.to_dict()) == ["title"]
missing = get_todo.sync(created.id + 1, client=client)
assert isinstance(missing, ProblemDetails) and missing.title == "Not Found"

done = complete_todo.sync(1, client=Client(base_url=os.environ["TODO_DEMO_URL"]))
assert done.done is True

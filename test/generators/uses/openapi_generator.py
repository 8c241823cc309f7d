import os

import error_demo
import shared_list
from shared_list import ApiException, CreateTodo, ReplaceTodo

TOKEN = os.environ["TODO_TOKEN"]
todos = shared_list.TodosApi(
    shared_list.ApiClient(shared_list.Configuration(host=os.environ["TODO_LIST_URL"], access_token=TOKEN))
)


def refused(call) -> ApiException:
    try:
        call()
    except ApiException as error:
        return error
    raise AssertionError("not refused")


created = todos.create_todo(CreateTodo(title="Buy milk", category_id=2))
read = todos.get_todo_with_http_info(created.id)
assert read.data == created and created.done is False
bread = ReplaceTodo(title="Buy bread", category_id=1)
todos.replace_todo(created.id, bread, if_match=read.headers["etag"])
assert todos.get_todo(created.id).title == "Buy bread"
assert refused(lambda: todos.replace_todo(created.id, bread, if_match=read.headers["etag"])).status == 412
invalid = refused(lambda: todos.create_todo(CreateTodo.model_construct(title="", category_id=2)))
assert invalid.status == 400 and list(invalid.data.errors) == ["title"], invalid
assert refused(lambda: todos.get_todo(created.id + 1)).data.title == "Not Found"

demo = error_demo.TodosApi(error_demo.ApiClient(error_demo.Configuration(host=os.environ["TODO_DEMO_URL"])))
assert demo.complete_todo(1).done

import com.fasterxml.jackson.databind.ObjectMapper;
import shared_list.ApiException;
import shared_list.api.TodosApi;
import shared_list.model.*;

class Use {
  public static void main(String[] arguments) throws Exception {
    var client = new shared_list.ApiClient();
    client.updateBaseUri(System.getenv("TODO_LIST_URL"));
    client.setRequestInterceptor(request -> request.header("Authorization", "Bearer " + System.getenv("TODO_TOKEN")));
    var todos = new TodosApi(client);

    var created = todos.createTodo(new CreateTodo().title("Buy milk").categoryId(2), null);
    var read = todos.getTodoWithHttpInfo(created.getId(), null, null);
    check(read.getData().equals(created) && !created.getDone());
    var tag = read.getHeaders().get("etag").get(0);
    var bread = new ReplaceTodo().title("Buy bread").categoryId(1);
    todos.replaceTodo(created.getId(), bread, tag, null);
    check(refused(() -> todos.replaceTodo(created.getId(), bread, tag, null)).getCode() == 412);
    var invalid = refused(() -> todos.createTodo(new CreateTodo().title("").categoryId(2), null));
    var problem = new ObjectMapper().readValue(invalid.getResponseBody(), HttpValidationProblemDetails.class);
    check(problem.getErrors().containsKey("title"));
    check(refused(() -> todos.getTodo(created.getId() + 1, null, null)).getCode() == 404);

    var demo = new error_demo.ApiClient();
    demo.updateBaseUri(System.getenv("TODO_DEMO_URL"));
    check(new error_demo.api.TodosApi(demo).completeTodo(1).getDone());
  }

  interface Call {
    void run() throws ApiException;
  }

  static ApiException refused(Call call) {
    try {
      call.run();
    } catch (ApiException error) {
      return error;
    }
    throw new AssertionError("not refused");
  }

  static void check(boolean holds) {
    if (!holds) throw new AssertionError();
  }
}

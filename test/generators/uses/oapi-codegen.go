package main

import (
	"context"
	"net/http"
	"os"

	"made/error_demo"
	"made/shared_list"
)

func main() {
	ctx := context.Background()
	authorize := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+os.Getenv("TODO_TOKEN"))
		return nil
	}
	todos, err := shared_list.NewClientWithResponses(os.Getenv("TODO_LIST_URL"), shared_list.WithRequestEditorFn(authorize))
	check(err == nil)

	created, err := todos.CreateTodoWithResponse(ctx, nil, shared_list.CreateTodo{Title: "Buy milk", CategoryId: 2})
	check(err == nil && !created.JSON201.Done)
	id, tag := created.JSON201.Id, created.HTTPResponse.Header.Get("ETag")
	read, err := todos.GetTodoWithResponse(ctx, id, nil)
	check(err == nil && *read.JSON200 == *created.JSON201)
	for _, status := range []int{http.StatusNoContent, http.StatusPreconditionFailed} {
		parameters := &shared_list.ReplaceTodoParams{IfMatch: &tag}
		replaced, err := todos.ReplaceTodoWithResponse(ctx, id, parameters, shared_list.ReplaceTodo{Title: "Buy bread", CategoryId: 1})
		check(err == nil && replaced.StatusCode() == status)
	}
	invalid, err := todos.CreateTodoWithResponse(ctx, nil, shared_list.CreateTodo{Title: "", CategoryId: 2})
	check(err == nil && len((*invalid.ApplicationproblemJSON400.Errors)["title"]) == 1)
	missing, err := todos.GetTodoWithResponse(ctx, id+1, nil)
	check(err == nil && missing.ApplicationproblemJSON404.Title == "Not Found")

	demo, err := error_demo.NewClientWithResponses(os.Getenv("TODO_DEMO_URL"))
	check(err == nil)
	done, err := demo.CompleteTodoWithResponse(ctx, 1)
	check(err == nil && done.JSON200.Done)
}

func check(holds bool) {
	if !holds {
		panic("not as expected")
	}
}

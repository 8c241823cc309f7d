package main

import (
	"context"
	"errors"
	"net/http"
	"os"

	"made/error_demo"
	"made/shared_list"
)

func main() {
	settings := shared_list.NewConfiguration()
	settings.Servers = shared_list.ServerConfigurations{{URL: os.Getenv("TODO_LIST_URL")}}
	todos := shared_list.NewAPIClient(settings).TodosAPI
	ctx := context.WithValue(context.Background(), shared_list.ContextAccessToken, os.Getenv("TODO_TOKEN"))

	created, response, err := todos.CreateTodo(ctx).CreateTodo(*shared_list.NewCreateTodo("Buy milk", 2)).Execute()
	check(err == nil && !created.Done)
	tag := response.Header.Get("ETag")
	read, _, err := todos.GetTodo(ctx, created.Id).Execute()
	check(err == nil && read.Title == created.Title)
	for _, status := range []int{http.StatusNoContent, http.StatusPreconditionFailed} {
		bread := *shared_list.NewReplaceTodo("Buy bread", 1)
		response, _ = todos.ReplaceTodo(ctx, created.Id).ReplaceTodo(bread).IfMatch(tag).Execute()
		check(response.StatusCode == status)
	}
	_, _, err = todos.CreateTodo(ctx).CreateTodo(*shared_list.NewCreateTodo("", 2)).Execute()
	var refused *shared_list.GenericOpenAPIError
	check(errors.As(err, &refused))
	invalid := refused.Model().(shared_list.HttpValidationProblemDetails)
	check(len(invalid.GetErrors()["title"]) == 1)
	_, response, _ = todos.GetTodo(ctx, created.Id+1).Execute()
	check(response.StatusCode == http.StatusNotFound)

	demo := error_demo.NewConfiguration()
	demo.Servers = error_demo.ServerConfigurations{{URL: os.Getenv("TODO_DEMO_URL")}}
	done, _, err := error_demo.NewAPIClient(demo).TodosAPI.CompleteTodo(ctx, 1).Execute()
	check(err == nil && done.Done)
}

func check(holds bool) {
	if !holds {
		panic("not as expected")
	}
}

package main

import (
	"context"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

type Postgres struct{ *pgxpool.Pool }

var always = context.Background()

func openPostgres(url string) Store {
	config := must(pgxpool.ParseConfig(url))
	config.MaxConns = 10
	return Postgres{must(pgxpool.NewWithConfig(always, config))}
}

func (p Postgres) find(id string) (Todo, bool) {
	rows := must(p.Query(always, "SELECT id, title, done, category_id FROM todos WHERE id = $1", number(id)))
	todo, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[Todo])
	if err == pgx.ErrNoRows {
		return todo, false
	}
	return must(todo, err), true
}

func (p Postgres) list() []Todo {
	rows := must(p.Query(always, "SELECT id, title, done, category_id FROM todos ORDER BY id"))
	return must(pgx.CollectRows(rows, pgx.RowToStructByPos[Todo]))
}

func (p Postgres) add(todo Todo) int64 {
	rows := must(p.Query(always, "INSERT INTO todos (title, category_id) VALUES ($1, $2) RETURNING id", todo.Title, todo.CategoryID))
	return must(pgx.CollectExactlyOneRow(rows, pgx.RowTo[int64]))
}

func (p Postgres) replace(id string, todo Todo) int64 {
	return must(p.Exec(always, "UPDATE todos SET title = $1, done = $2, category_id = $3 WHERE id = $4",
		todo.Title, todo.Done, todo.CategoryID, number(id))).RowsAffected()
}

func number(id string) int64 {
	return must(strconv.ParseInt(id, 10, 64))
}

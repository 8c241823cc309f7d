package main

import (
	"database/sql"

	_ "github.com/mattn/go-sqlite3"
)

type SQLite struct{ finding, listing, adding, replacing *sql.Stmt }

func openSQLite(path string) Store {
	database := must(sql.Open("sqlite3", "file:"+path+"?_journal_mode=WAL&_synchronous=FULL&_foreign_keys=on"))
	database.SetMaxOpenConns(1)
	return SQLite{
		must(database.Prepare("SELECT id, title, done, category_id FROM todos WHERE id = ?")),
		must(database.Prepare("SELECT id, title, done, category_id FROM todos ORDER BY id")),
		must(database.Prepare("INSERT INTO todos (title, category_id) VALUES (?, ?)")),
		must(database.Prepare("UPDATE todos SET title = ?, done = ?, category_id = ? WHERE id = ?")),
	}
}

func (s SQLite) find(id string) (Todo, bool) {
	todo, err := todoOf(s.finding.QueryRow(id).Scan)
	if err == sql.ErrNoRows {
		return todo, false
	}
	return must(todo, err), true
}

func (s SQLite) list() []Todo {
	rows := must(s.listing.Query())
	defer rows.Close()
	todos := []Todo{}
	for rows.Next() {
		todos = append(todos, must(todoOf(rows.Scan)))
	}
	return todos
}

func (s SQLite) add(todo Todo) int64 {
	return must(must(s.adding.Exec(todo.Title, todo.CategoryID)).LastInsertId())
}

func (s SQLite) replace(id string, todo Todo) int64 {
	return must(must(s.replacing.Exec(todo.Title, todo.Done, todo.CategoryID, id)).RowsAffected())
}

func todoOf(scan func(...any) error) (todo Todo, err error) {
	err = scan(&todo.ID, &todo.Title, &todo.Done, &todo.CategoryID)
	return
}

// The list by hand: net/http, golang-jwt, mattn/go-sqlite3.
package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"math"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/golang-jwt/jwt/v5"
	_ "github.com/mattn/go-sqlite3"
)

type Todo struct {
	ID         int64  `json:"id"`
	Title      string `json:"title"`
	Done       bool   `json:"done"`
	CategoryID int64  `json:"categoryId"`
}

type Claims struct {
	Role string `json:"role"`
	jwt.RegisteredClaims
}

func main() {
	database := must(sql.Open("sqlite3", "file:"+os.Getenv("DATABASE")+"?_journal_mode=WAL&_synchronous=FULL&_foreign_keys=on"))
	database.SetMaxOpenConns(1)
	find := must(database.Prepare("SELECT id, title, done, category_id FROM todos WHERE id = ?"))
	list := must(database.Prepare("SELECT id, title, done, category_id FROM todos ORDER BY id"))
	add := must(database.Prepare("INSERT INTO todos (title, category_id) VALUES (?, ?)"))
	replace := must(database.Prepare("UPDATE todos SET title = ?, done = ?, category_id = ? WHERE id = ?"))
	secret := []byte(os.Getenv("SECRET"))
	parser := jwt.NewParser(jwt.WithValidMethods([]string{"HS256"}), jwt.WithIssuer(os.Getenv("ISSUER")),
		jwt.WithAudience(os.Getenv("AUDIENCE")), jwt.WithExpirationRequired())

	handle := func(pattern string, handler func(http.ResponseWriter, *http.Request, Todo)) {
		http.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			var claims Claims
			token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
			_, err := parser.ParseWithClaims(token, &claims, func(*jwt.Token) (any, error) { return secret, nil })
			var sent Todo
			if err != nil {
				w.WriteHeader(401)
			} else if r.Method != "GET" && claims.Role != "editor" {
				w.WriteHeader(403)
			} else if r.Method != "GET" && (json.NewDecoder(r.Body).Decode(&sent) != nil || !isValid(sent)) {
				w.WriteHeader(400)
			} else {
				w.Header().Set("Content-Type", "application/json")
				handler(w, r, sent)
			}
		})
	}
	readList := func() []Todo {
		rows := must(list.Query())
		defer rows.Close()
		todos := []Todo{}
		for rows.Next() {
			todos = append(todos, must(todoOf(rows.Scan)))
		}
		return todos
	}
	// With KEEP=1 the bytes of the list stay until a write.
	var lock sync.Mutex
	var kept []byte
	_, keep := os.LookupEnv("KEEP")
	keptList := func() []byte {
		lock.Lock()
		defer lock.Unlock()
		if kept == nil {
			kept = must(json.Marshal(readList()))
		}
		return kept
	}
	write := func(statement *sql.Stmt, values ...any) sql.Result {
		if keep {
			lock.Lock()
			defer lock.Unlock()
			kept = nil
		}
		return must(statement.Exec(values...))
	}
	handle("GET /todos", func(w http.ResponseWriter, _ *http.Request, _ Todo) {
		if keep {
			w.Write(keptList())
		} else {
			json.NewEncoder(w).Encode(readList())
		}
	})
	handle("GET /todos/{id}", func(w http.ResponseWriter, r *http.Request, _ Todo) {
		todo, err := todoOf(find.QueryRow(r.PathValue("id")).Scan)
		if err == sql.ErrNoRows {
			w.WriteHeader(404)
		} else {
			json.NewEncoder(w).Encode(must(todo, err))
		}
	})
	handle("POST /todos", func(w http.ResponseWriter, _ *http.Request, todo Todo) {
		todo.ID, todo.Done = must(write(add, todo.Title, todo.CategoryID).LastInsertId()), false
		w.Header().Set("Location", fmt.Sprintf("/todos/%d", todo.ID))
		w.WriteHeader(201)
		json.NewEncoder(w).Encode(todo)
	})
	handle("PUT /todos/{id}", func(w http.ResponseWriter, r *http.Request, todo Todo) {
		changed := must(write(replace, todo.Title, todo.Done, todo.CategoryID, r.PathValue("id")).RowsAffected())
		w.WriteHeader(map[int64]int{0: 404, 1: 204}[changed])
	})
	listener := must(net.Listen("tcp", "127.0.0.1:0"))
	fmt.Printf("listening http://%s\n", listener.Addr())
	panic(http.Serve(listener, nil))
}

func isValid(todo Todo) bool {
	length := utf8.RuneCountInString(todo.Title)
	return length >= 1 && length <= 100 && todo.CategoryID >= 1 && todo.CategoryID <= math.MaxInt32
}

func todoOf(scan func(...any) error) (todo Todo, err error) {
	err = scan(&todo.ID, &todo.Title, &todo.Done, &todo.CategoryID)
	return
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

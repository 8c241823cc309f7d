// The list by hand: net/http, golang-jwt, mattn/go-sqlite3 or pgx.
package main

import (
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
)

type Todo struct {
	ID         int64  `json:"id"`
	Title      string `json:"title"`
	Done       bool   `json:"done"`
	CategoryID int64  `json:"categoryId"`
}

// Changes give the new id, or how many rows they changed.
type Store interface {
	find(id string) (Todo, bool)
	list() []Todo
	add(Todo) int64
	replace(id string, todo Todo) int64
}

type Claims struct {
	Role string `json:"role"`
	jwt.RegisteredClaims
}

func main() {
	var todos Store
	if told := os.Getenv("DATABASE"); strings.HasPrefix(told, "postgres:") {
		todos = openPostgres(told)
	} else {
		todos = openSQLite(told)
	}
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
	// With KEEP=1 the bytes of the list stay until a write.
	var lock sync.Mutex
	var kept []byte
	_, keep := os.LookupEnv("KEEP")
	keptList := func() []byte {
		lock.Lock()
		defer lock.Unlock()
		if kept == nil {
			kept = must(json.Marshal(todos.list()))
		}
		return kept
	}
	write := func(change func() int64) int64 {
		if keep {
			lock.Lock()
			defer lock.Unlock()
			kept = nil
		}
		return change()
	}
	handle("GET /todos", func(w http.ResponseWriter, _ *http.Request, _ Todo) {
		if keep {
			w.Write(keptList())
		} else {
			json.NewEncoder(w).Encode(todos.list())
		}
	})
	handle("GET /todos/{id}", func(w http.ResponseWriter, r *http.Request, _ Todo) {
		if todo, found := todos.find(r.PathValue("id")); found {
			json.NewEncoder(w).Encode(todo)
		} else {
			w.WriteHeader(404)
		}
	})
	handle("POST /todos", func(w http.ResponseWriter, _ *http.Request, todo Todo) {
		todo.ID, todo.Done = write(func() int64 { return todos.add(todo) }), false
		w.Header().Set("Location", fmt.Sprintf("/todos/%d", todo.ID))
		w.WriteHeader(201)
		json.NewEncoder(w).Encode(todo)
	})
	handle("PUT /todos/{id}", func(w http.ResponseWriter, r *http.Request, todo Todo) {
		changed := write(func() int64 { return todos.replace(r.PathValue("id"), todo) })
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

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

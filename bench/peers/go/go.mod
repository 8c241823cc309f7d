module todo-bench

go 1.24

require (
	github.com/golang-jwt/jwt/v5 v5.3.1
	github.com/mattn/go-sqlite3 v1.14.53
)

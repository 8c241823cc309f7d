//! The list by hand: axum, jsonwebtoken, rusqlite.
use axum::extract::{FromRequestParts, Path, State};
use axum::http::{StatusCode, header, request::Parts};
use axum::{Json, Router, body::Bytes, response::IntoResponse, routing::get};
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode};
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::{Deserialize, Serialize};
use std::{env, sync::Arc, sync::Mutex};

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Todo {
    #[serde(skip_deserializing)]
    id: i64,
    title: String,
    #[serde(default)]
    done: bool,
    category_id: i64,
}

#[derive(Deserialize)]
struct Claims {
    role: Option<String>,
}

struct App(Mutex<Connection>, DecodingKey, Validation);

type Answer<T> = Result<T, StatusCode>;

impl FromRequestParts<Arc<App>> for Claims {
    type Rejection = StatusCode;
    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Answer<Self> {
        let given = parts.headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let token = given.and_then(|value| value.strip_prefix("Bearer ")).ok_or(StatusCode::UNAUTHORIZED)?;
        decode(token, &app.1, &app.2).map(|read| read.claims).map_err(|_| StatusCode::UNAUTHORIZED)
    }
}

fn parse(claims: &Claims, bytes: &Bytes) -> Answer<Todo> {
    if claims.role.as_deref() != Some("editor") {
        return Err(StatusCode::FORBIDDEN);
    }
    let is_valid = |todo: &Todo| (1..=100).contains(&todo.title.chars().count()) && (1..=0x7fff_ffff).contains(&todo.category_id);
    serde_json::from_slice(bytes).ok().filter(is_valid).ok_or(StatusCode::BAD_REQUEST)
}

fn todo_of(row: &Row) -> rusqlite::Result<Todo> {
    Ok(Todo { id: row.get(0)?, title: row.get(1)?, done: row.get(2)?, category_id: row.get(3)? })
}

async fn list(_: Claims, State(app): State<Arc<App>>) -> Json<Vec<Todo>> {
    let database = app.0.lock().unwrap();
    let mut list = database.prepare_cached("SELECT id, title, done, category_id FROM todos ORDER BY id").unwrap();
    Json(list.query_map([], todo_of).unwrap().map(Result::unwrap).collect())
}

async fn find(_: Claims, State(app): State<Arc<App>>, Path(id): Path<i64>) -> Answer<Json<Todo>> {
    let database = app.0.lock().unwrap();
    let mut find = database.prepare_cached("SELECT id, title, done, category_id FROM todos WHERE id = ?").unwrap();
    find.query_row([id], todo_of).optional().unwrap().map(Json).ok_or(StatusCode::NOT_FOUND)
}

async fn create(claims: Claims, State(app): State<Arc<App>>, bytes: Bytes) -> Answer<impl IntoResponse> {
    let todo = parse(&claims, &bytes)?;
    let database = app.0.lock().unwrap();
    let mut add = database.prepare_cached("INSERT INTO todos (title, category_id) VALUES (?, ?)").unwrap();
    let id = add.insert(params![todo.title, todo.category_id]).unwrap();
    Ok((StatusCode::CREATED, [(header::LOCATION, format!("/todos/{id}"))], Json(Todo { id, done: false, ..todo })))
}

async fn replace(claims: Claims, State(app): State<Arc<App>>, Path(id): Path<i64>, bytes: Bytes) -> Answer<StatusCode> {
    let Todo { title, done, category_id, .. } = parse(&claims, &bytes)?;
    let database = app.0.lock().unwrap();
    let mut replace = database.prepare_cached("UPDATE todos SET title = ?, done = ?, category_id = ? WHERE id = ?").unwrap();
    let changed = replace.execute(params![title, done, category_id, id]).unwrap();
    if changed == 1 { Ok(StatusCode::NO_CONTENT) } else { Err(StatusCode::NOT_FOUND) }
}

#[tokio::main]
async fn main() {
    let told = |name| env::var(name).unwrap();
    let database = Connection::open(told("DATABASE")).unwrap();
    database.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON").unwrap();
    let mut validation = Validation::new(Algorithm::HS256);
    validation.set_issuer(&[told("ISSUER")]);
    validation.set_audience(&[told("AUDIENCE")]);
    let app = Arc::new(App(Mutex::new(database), DecodingKey::from_secret(told("SECRET").as_bytes()), validation));
    let routes = Router::new().route("/todos", get(list).post(create)).route("/todos/{id}", get(find).put(replace));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    println!("listening http://{}", listener.local_addr().unwrap());
    axum::serve(listener, routes.with_state(app)).await.unwrap();
}

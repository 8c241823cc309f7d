use shared_list::apis::{todos_api as todos, Error};
use shared_list::models::{CreateTodo, ReplaceTodo};

fn main() {
    let url = |name| std::env::var(name).unwrap();
    let mut list = shared_list::apis::configuration::Configuration::new();
    list.base_path = url("TODO_LIST_URL");
    list.bearer_access_token = Some(url("TODO_TOKEN"));

    let created = todos::create_todo(&list, CreateTodo::new("Buy milk".into(), 2), None).unwrap();
    let read = todos::get_todo(&list, created.id, None, None).unwrap();
    assert!(read == created && !read.done);
    let bread = ReplaceTodo::new("Buy bread".into(), 1);
    todos::replace_todo(&list, read.id, bread.clone(), Some("*"), None).unwrap();
    let failed = todos::replace_todo(&list, read.id, bread, Some("\"another\""), None);
    assert!(matches!(failed, Err(Error::ResponseError(answer)) if answer.status == 412));
    match todos::create_todo(&list, CreateTodo::new("".into(), 2), None) {
        Err(Error::ResponseError(answer)) => match answer.entity {
            Some(todos::CreateTodoError::Status400(problem)) => assert!(problem.errors.unwrap().contains_key("title")),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
    let missing = todos::get_todo(&list, read.id + 1, None, None);
    assert!(matches!(missing, Err(Error::ResponseError(answer)) if answer.status == 404));

    let mut demo = error_demo::apis::configuration::Configuration::new();
    demo.base_path = url("TODO_DEMO_URL");
    assert!(error_demo::apis::todos_api::complete_todo(&demo, 1).unwrap().done);
}

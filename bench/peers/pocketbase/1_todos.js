// https://pocketbase.io/docs/js-migrations/
migrate((app) => {
  const fields = [
    { name: 'title', type: 'text', required: true, max: 100 },
    { name: 'done', type: 'bool' },
    { name: 'categoryId', type: 'number', required: true, onlyInt: true, min: 1, max: 2_147_483_647 },
  ];
  const [mayRead, mayWrite] = ["@request.auth.id != ''", "@request.auth.role = 'editor'"];
  const rules = { listRule: mayRead, viewRule: mayRead, createRule: mayWrite, updateRule: mayWrite };
  app.save(new Collection({ type: 'base', name: 'todos', ...rules, fields }));
  const users = app.findCollectionByNameOrId('users');
  users.fields.add(new TextField({ name: 'role' }));
  app.save(users);
  for (const role of ['editor', 'viewer']) {
    const user = new Record(users);
    user.setEmail(`${role}@example.org`);
    user.setPassword($os.getenv('PASSWORD'));
    user.set('role', role);
    app.save(user);
  }
});

// https://expressjs.com/en/guide/writing-middleware.html, https://github.com/auth0/node-jsonwebtoken#readme
import { createPublicKey, createSecretKey } from 'node:crypto';
import express, { type NextFunction, type Request, type Response } from 'express';
import jwt from 'jsonwebtoken';
import { todos } from './better-sqlite3.ts';
import { isTodoBody, mayWrite, PROBLEM_JSON, problem } from './checks.ts';
import { algorithm, audience, host, issuer, keyText, port } from './settings.ts';

const key = algorithm === 'HS256' ? createSecretKey(Buffer.from(keyText)) : createPublicKey(keyText);

const app = express();
app.disable('x-powered-by');
// Nobody else here digests every body.
app.disable('etag');

function send(res: Response, status: number): void {
  res
    .status(status)
    .type(PROBLEM_JSON)
    .send(JSON.stringify(problem(status)));
}

function authenticate(req: Request, res: Response, next: NextFunction): void {
  const token = req.headers.authorization?.split(' ')[1];
  try {
    res.locals.claims = jwt.verify(token ?? '', key, { algorithms: [algorithm], issuer, audience });
  } catch {
    send(res, 401);
    return;
  }
  next();
}

function requireEditor(_req: Request, res: Response, next: NextFunction): void {
  if (mayWrite(res.locals.claims)) next();
  else send(res, 403);
}

const router = express.Router();
router.use(authenticate);

router.get('/', (_req, res) => {
  res.json(todos.list());
});

router.get('/:id', (req, res) => {
  const id = Number(req.params.id);
  const todo = Number.isInteger(id) ? todos.find(id) : undefined;
  if (todo === undefined) send(res, 404);
  else res.json(todo);
});

router.post('/', requireEditor, express.json(), (req, res) => {
  if (!isTodoBody(req.body)) return send(res, 400);
  const todo = todos.add(req.body.title, req.body.categoryId);
  res.status(201).location(`/todos/${todo.id}`).json(todo);
});

router.put('/:id', requireEditor, express.json(), (req, res) => {
  if (!isTodoBody(req.body)) return send(res, 400);
  const { title, done = false, categoryId } = req.body;
  if (todos.replace(Number(req.params.id), title, done, categoryId)) res.status(204).end();
  else send(res, 404);
});

app.use('/todos', router);
app.use((_req, res) => send(res, 404));
app.listen(port, host);

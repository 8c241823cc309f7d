import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import fc from 'fast-check';
import { createTodoClient, type TodoClient, TodoProblem } from '../../packages/client/src/client.ts';
import { cases } from '../support/cases.ts';

/** Lets everything run that waits for nothing from outside. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** A client whose tokens and answers come from the test. Its calls have numbers, which are the ids of their todos. */
class World {
  /** What happened since it was last read. */
  readonly events: string[] = [];
  readonly questions: PromiseWithResolvers<string>[] = [];
  readonly answers = new Map<number, PromiseWithResolvers<Response>>();
  readonly controllers: AbortController[] = [];
  readonly #client: TodoClient = createTodoClient({
    baseUrl: 'https://todos.example',
    retries: 0,
    token: ({ refused }) => {
      this.events.push(refused ? 'asks for another token' : 'asks for a token');
      this.questions.push(Promise.withResolvers());
      return this.questions.at(-1)?.promise;
    },
  });
  readonly #fetch = mock.method(
    globalThis,
    'fetch',
    async (url: string, { headers, signal }: RequestInit) => {
      const call = Number(url.split('/').at(-1));
      this.events.push(`${call} sends ${new Headers(headers).get('authorization')}`);
      const answer = Promise.withResolvers<Response>();
      signal?.addEventListener('abort', () => answer.reject(signal.reason));
      this.answers.set(call, answer);
      return answer.promise;
    },
  );

  call(): void {
    const controller = new AbortController();
    const number = this.controllers.push(controller) - 1;
    this.#client.get(number, controller).then(
      ({ todo }) => this.events.push(`${number} has todo ${todo.id}`),
      (error) =>
        this.events.push(`${number} ends: ${error instanceof TodoProblem ? error.status : error.message}`),
    );
  }

  respond(call: number, status: 200 | 401): void {
    const todo = { id: call, title: 'Buy milk', done: false, categoryId: 1 };
    const body = status === 200 ? todo : { title: 'Unauthorized' };
    const headers = { 'content-type': 'application/problem+json' };
    this.answers.get(call)?.resolve(Response.json(body, { status, headers }));
  }

  [Symbol.dispose](): void {
    this.#fetch.mock.restore();
  }
}

/** What a call waits for: a token (in place of a refused one), or the answer to a request. */
type Waiting =
  | { readonly for: 'token'; readonly refused?: string | undefined }
  | { readonly for: 'answer'; readonly token: string | undefined; readonly isFirst: boolean };

/** What is expected of a client: each step names the events that follow it. */
class Model {
  readonly calls = new Map<number, Waiting>();
  /** Questions that were asked, and the one under way. */
  asked = 0;
  #begun = 0;
  #now = 0;
  #newest: string | undefined;
  #underWay: { readonly index: number; readonly isRenewal: boolean } | undefined;
  /** Since when nobody waits for it. */
  #leftAt: number | undefined;

  #ask(isRenewal: boolean): string[] {
    if (this.#underWay !== undefined) return [];
    this.#underWay = { index: this.asked, isRenewal };
    this.asked += 1;
    return [isRenewal ? 'asks for another token' : 'asks for a token'];
  }

  #send(call: number, token: string | undefined, isFirst: boolean): string[] {
    this.calls.set(call, { for: 'answer', token, isFirst });
    return [`${call} sends Bearer ${token}`];
  }

  #end(call: number, how: string): string[] {
    this.calls.delete(call);
    return [`${call} ${how}`];
  }

  /** The call has got a 401 to `refused`, and nothing is under way. */
  #replace(call: number, refused: string | undefined): string[] {
    return this.#newest === refused ? this.#ask(true) : this.#send(call, this.#newest, false);
  }

  call(): string[] {
    this.calls.set(this.#begun, { for: 'token' });
    this.#begun += 1;
    return this.#ask(false);
  }

  abort(call: number): string[] {
    return this.calls.has(call) ? this.#end(call, 'ends: aborted') : [];
  }

  /** Milliseconds pass. */
  pass(milliseconds: number): string[] {
    this.#now += milliseconds;
    return [];
  }

  /** Answers a question, `undefined` with an error. */
  give(index: number, token: string | undefined): string[] {
    if (index !== this.#underWay?.index) return [];
    const { isRenewal } = this.#underWay;
    this.#underWay = undefined;
    this.#newest = token ?? this.#newest;
    return [...this.calls].flatMap(([call, waiting]) => {
      if (waiting.for !== 'token') return [];
      const { refused } = waiting;
      // Who asked first for another token in place of a refused one asked for all that come behind.
      if (refused !== undefined && !isRenewal)
        return this.#underWay === undefined ? this.#replace(call, refused) : [];
      if (token !== undefined) return this.#send(call, token, refused === undefined);
      return this.#end(call, refused === undefined ? 'ends: offline' : 'ends: 401');
    });
  }

  respond(call: number, status: 200 | 401): string[] {
    const waiting = this.calls.get(call);
    if (waiting?.for !== 'answer') return [];
    if (status === 200) return this.#end(call, `has todo ${call}`);
    if (!waiting.isFirst) return this.#end(call, 'ends: 401');
    // The last one that waits.
    this.calls.delete(call);
    this.calls.set(call, { for: 'token', refused: waiting.token });
    return this.#underWay === undefined ? this.#replace(call, waiting.token) : [];
  }

  /** After each step: a question that nobody waits for is forgotten, a renewal after 30 s. */
  forget(): void {
    const isWaitedFor = [...this.calls.values()].some((waiting) => waiting.for === 'token');
    this.#leftAt = isWaitedFor ? undefined : (this.#leftAt ?? this.#now);
    const isKept = this.#underWay?.isRenewal === true && this.#now - (this.#leftAt ?? this.#now) < 30_000;
    if (!isWaitedFor && !isKept) this.#underWay = undefined;
  }
}

type Step =
  | readonly ['call']
  | readonly ['abort', call: number]
  | readonly ['pass', milliseconds: number]
  | readonly ['give', index: number, token: string | undefined]
  | readonly ['respond', call: number, status: 200 | 401];

const indexes = fc.nat(9);
const pauses = fc.constantFrom(1, 10_000, 29_999, 30_000);
const tokens = fc.constantFrom('a', 'b', 'c', undefined);
const statuses = fc.constantFrom(200 as const, 401 as const);
const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.constant(['call'] as const) },
  { weight: 2, arbitrary: fc.tuple(fc.constant('abort' as const), indexes) },
  { weight: 1, arbitrary: fc.tuple(fc.constant('pass' as const), pauses) },
  { weight: 3, arbitrary: fc.tuple(fc.constant('give' as const), indexes, tokens) },
  { weight: 4, arbitrary: fc.tuple(fc.constant('respond' as const), indexes, statuses) },
);

test('whatever is aborted, refused and answered late, one token is asked for at a time, and none that was forgotten counts', async () => {
  const property = fc.asyncProperty(fc.array(steps, { maxLength: 60, size: 'max' }), async (several) => {
    mock.timers.enable({ apis: ['Date'] });
    using world = new World();
    const model = new Model();
    const take = async (step: Step) => {
      const expected = follow(model, step);
      model.forget();
      await act(world, step);
      assert.deepEqual(world.events.splice(0).sort(), expected.sort(), step.join(' '));
    };
    try {
      for (const step of several) await take(choose(step, model));
      // Once all are gone for 30 s, the next call is served, whatever was never answered.
      for (const call of [...model.calls.keys()]) await take(['abort', call]);
      await take(['pass', 30_000]);
      await take(['call']);
      await take(['give', model.asked - 1, 'last']);
      const [last = 0] = model.calls.keys();
      await take(['respond', last, 200]);
      assert.equal(model.calls.size, 0);
    } finally {
      mock.timers.reset();
    }
  });
  await fc.assert(property, { seed: 20261127, numRuns: cases(200, 5_000) });
});

/** A step that takes place: of a call that is under way, of a question that was asked. */
function choose(step: Step, model: Model): Step {
  const calls = [...model.calls.keys()];
  const oneOf = (index: number) => calls[index % calls.length] ?? -1;
  if (step[0] === 'abort') return ['abort', oneOf(step[1])];
  if (step[0] === 'respond') return ['respond', oneOf(step[1]), step[2]];
  // Mostly the last one.
  if (step[0] === 'give') return ['give', model.asked - 1 - Math.max(0, step[1] - 5), step[2]];
  return step;
}

function follow(model: Model, step: Step): string[] {
  switch (step[0]) {
    case 'call':
      return model.call();
    case 'abort':
      return model.abort(step[1]);
    case 'pass':
      return model.pass(step[1]);
    case 'give':
      return model.give(step[1], step[2]);
    case 'respond':
      return model.respond(step[1], step[2]);
  }
}

async function act(world: World, step: Step): Promise<void> {
  if (step[0] === 'call') world.call();
  else if (step[0] === 'abort') world.controllers[step[1]]?.abort(new Error('aborted'));
  else if (step[0] === 'pass') mock.timers.tick(step[1]);
  else if (step[0] === 'respond') world.respond(step[1], step[2]);
  else if (step[2] === undefined) world.questions[step[1]]?.reject(new Error('offline'));
  else world.questions[step[1]]?.resolve(step[2]);
  await turn();
}

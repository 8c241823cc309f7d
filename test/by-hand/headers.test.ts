import { once } from 'node:events';
import { createServer } from 'node:http';
import { describe } from 'node:test';
import { parse } from 'content-type';
import cors from 'cors';
import Negotiator from 'negotiator';
import { listen } from '../../test/support/folder.ts';
import { holds } from './holds.ts';

describe('`Accept` and `Content-Type`', () => {
  const parametersOf = (more: string) => ({ ...parse(`application/json; ${more}`).parameters });

  holds(
    'content-type takes two charsets, and gives the first',
    () => parametersOf('charset=utf-8; charset=latin1'),
    { charset: 'utf-8' },
  );
  holds('content-type takes a parameter without a value', () => parametersOf('charset'), {});
  holds('content-type takes a parameter without a name', () => parametersOf('=x'), { '': 'x' });
  holds('content-type takes an unterminated quote', () => parametersOf('charset="latin1'), {});
  holds('content-type takes white space before "="', () => parametersOf('charset =utf-8'), {
    charset: 'utf-8',
  });

  const preferred = (accept: string, available?: string[]) =>
    new Negotiator({ headers: { accept } }).mediaTypes(available);

  holds(
    'negotiator knows no type by its suffix +json',
    () => preferred('application/vnd.api+json', ['application/json', 'application/problem+json']),
    [],
  );
  holds('negotiator drops a range whose weight is no number', () => preferred('application/json;q=high'), []);
  holds(
    'negotiator gives the same for no range at all as for one that excludes',
    () => [preferred(', ,'), preferred('application/json;q=0')],
    [[], []],
  );
});

describe('CORS', () => {
  const allow = cors({ origin: ['https://app.example'] });

  async function statusOf(method: string, headers: Record<string, string>): Promise<number> {
    const server = createServer((request, response) =>
      allow(request, response, () => response.writeHead(405).end()),
    );
    const port = await listen(server);
    try {
      return (await fetch(`http://127.0.0.1:${port}/todos`, { method, headers })).status;
    } finally {
      server.closeAllConnections();
      await once(server.close(), 'close');
    }
  }

  holds(
    'cors answers an OPTIONS that is no preflight with 204',
    () => statusOf('OPTIONS', { origin: 'https://app.example' }),
    204,
  );
  holds(
    'cors answers a preflight of an origin that is not allowed with 204',
    () => statusOf('OPTIONS', { origin: 'https://b.example', 'access-control-request-method': 'PUT' }),
    204,
  );
});

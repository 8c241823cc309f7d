import type { Reply } from '../../conformance/src/http.ts';
import type { Running } from '../start.ts';

/** One request, for example `GET /todos`, and what came back. JSON is sent as `application/json`. */
export async function ask(
  { baseUrl }: Pick<Running, 'baseUrl'>,
  line: string,
  { token, json }: { readonly token?: string; readonly json?: unknown } = {},
): Promise<Reply> {
  const [method = '', path = ''] = line.split(' ');
  const headers = {
    ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
    ...(json === undefined ? {} : { 'Content-Type': 'application/json' }),
  };
  const body = json === undefined ? null : JSON.stringify(json);
  const response = await fetch(baseUrl + path, { method, headers, body });
  return {
    status: response.status,
    headers: [...response.headers],
    body: Buffer.from(await response.arrayBuffer()),
  };
}

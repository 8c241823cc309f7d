import { type Agent, request } from 'node:http';

/** Sends `GET /me` with a token and waits for the end of its answer. Rejects when the status is another one. */
export function askMe(baseUrl: string, token: string, status: number, agent: Agent): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const headers = { authorization: `Bearer ${token}` };
  const asked = request(`${baseUrl}/me`, { agent, headers }, (response) => {
    if (response.statusCode !== status) reject(new Error(`the service answered ${response.statusCode}`));
    response.resume().once('end', resolve);
  });
  asked.once('error', reject).end();
  return promise;
}

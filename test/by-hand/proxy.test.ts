import { once } from 'node:events';
import { Agent, get } from 'node:https';
import { createServer } from 'node:net';
import { describe } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { HttpsProxyAgent } from 'https-proxy-agent';
import { ProxyAgent, request } from 'undici';
import { listen } from '../../test/support/folder.ts';
import { holds } from './holds.ts';

const INTERIM = 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}';

/** Gives `ask` the address of a proxy that answers a CONNECT with this text. */
async function behindProxy<T>(text: string, ask: (proxy: string) => Promise<T>): Promise<T> {
  const proxy = createServer((socket) => {
    socket.on('error', () => {}).once('data', () => socket.end(text));
  });
  const port = await listen(proxy);
  try {
    return await ask(`http://user:password@127.0.0.1:${port}`);
  } finally {
    await once(proxy.close(), 'close');
  }
}

/** The status and the body that are taken for those of the issuer, or the message of the error. */
async function askIssuer(agent: Agent | HttpsProxyAgent<string>): Promise<string> {
  const asked = get('https://issuer.example/jwks', { agent: agent as Agent });
  try {
    const [response] = await once(asked, 'response');
    return `${response.statusCode} ${await response.toArray()}`;
  } catch (error) {
    return (error as Error).message;
  } finally {
    asked.destroy();
    agent.destroy();
  }
}

describe('the way through a proxy', () => {
  const byNode = (proxy: string) => askIssuer(new Agent({ proxyEnv: { HTTPS_PROXY: proxy } }));

  holds(
    'the agent of Node.js makes no tunnel where a 100 comes before the 200, and says the address of the proxy',
    () =>
      behindProxy(INTERIM, async (proxy) => {
        const { host } = new URL(proxy);
        const message = await byNode(proxy);
        return { refused: message.endsWith('HTTP/1.1 100 Continue'), said: message.includes(host) };
      }),
    { refused: true, said: true },
  );
  holds(
    'a request that is aborted while the agent of Node.js waits for its tunnel never ends: the keys would be asked for once',
    async () => {
      const proxy = createServer((socket) => void socket.on('error', () => {}).resume());
      const HTTPS_PROXY = `http://127.0.0.1:${await listen(proxy)}`;
      const agent = new Agent({ proxyEnv: { HTTPS_PROXY } });
      const aborting = new AbortController();
      const asked = get('https://issuer.example/jwks', { agent, signal: aborting.signal });
      const ended = Promise.race(['error', 'close'].map((event) => once(asked, event))).catch(() => {});
      const [socket] = await once(proxy, 'connection');
      await once(socket, 'data');
      aborting.abort();
      const end = await Promise.race([ended.then(() => 'it ends'), pause(1_000, 'it does not')]);
      agent.destroy();
      socket.destroy();
      await once(proxy.close(), 'close');
      return end;
    },
    'it does not',
  );
  holds(
    'https-proxy-agent takes an answer of the proxy, which nothing has encrypted, for that of the issuer',
    () => behindProxy(INTERIM, (proxy) => askIssuer(new HttpsProxyAgent(proxy))),
    '200 {}',
  );
  holds(
    'undici makes no tunnel where a 100 comes before the 200',
    () =>
      behindProxy(INTERIM, async (proxy) => {
        const dispatcher = new ProxyAgent(proxy);
        const asked = request('https://issuer.example/jwks', { dispatcher });
        return await asked.catch(({ code }) => code).finally(() => dispatcher.destroy());
      }),
    'UND_ERR_PRX_CONN',
  );
});

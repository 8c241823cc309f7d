import { type Answer, json } from '../http/message/answer.ts';
import type { Route } from '../http/message/routes.ts';

/** What operators can ask for. */
export interface AdminParts {
  /** True when requests can be answered, else why not, for people. Never rejects. */
  readonly ready: () => Promise<true | string>;
  readonly metrics: () => Promise<{ readonly contentType: string; readonly text: string }>;
  /** What is running. */
  readonly version: Readonly<Record<string, string | undefined>>;
}

/** The routes of the admin listener. They are open: whoever reaches the port may ask. */
export function adminRoutes({ ready, metrics, version }: AdminParts): readonly Route[] {
  return [
    page('/live', () => json({ status: 'live' })),
    page('/ready', async () => {
      const answer = await ready();
      return answer === true ? json({ status: 'ready' }) : { status: 503, detail: answer };
    }),
    page('/metrics', async () => {
      const { contentType, text } = await metrics();
      return { status: 200, headers: { 'content-type': contentType }, body: text };
    }),
    page('/version', () => json(version)),
  ];
}

/** What was so a moment ago may be kept by nobody. */
function page(path: string, make: () => Answer | Promise<Answer>): Route {
  const handle = async (): Promise<Answer> => {
    const answer = await make();
    return { ...answer, headers: { ...answer.headers, 'cache-control': 'no-store' } };
  };
  return { method: 'GET', path, access: 'open', handle };
}

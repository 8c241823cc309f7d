import type { Provider } from 'oidc-provider';

/** An oidc-provider that does not warn of a Node.js that is new, nor that it keeps everything in memory, as a trial wants. */
export async function quietProvider(issuer: string, configuration: object): Promise<Provider> {
  const { warn } = console;
  console.warn = () => {};
  try {
    const { Provider: Made } = await import('oidc-provider');
    return new Made(issuer, configuration);
  } finally {
    console.warn = warn;
  }
}

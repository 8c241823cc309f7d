import { type Draft, forge, type KeyName } from '../forge.ts';

/** Makes the hostile token from the draft of its twin. */
export type Sabotage = (made: Draft) => string;

/** What it breaks, what it is, how the token comes from its twin; the key and the twin where they matter. */
export type Row = readonly [
  rule: string,
  what: string,
  sabotage: Sabotage,
  key?: KeyName | 'secret',
  twin?: Draft,
];

/** The token as text, changed after it was put together. */
export function text(
  change: (token: string, segments: readonly [string, string, string]) => string,
): Sabotage {
  return (made) => {
    const token = forge(made);
    const [header = '', payload = '', signature = ''] = token.split('.');
    return change(token, [header, payload, signature]);
  };
}

export function header(members: Readonly<Record<string, unknown>>): Sabotage {
  return (made) => forge(made, { header: { ...made.header, ...members } });
}

export function claims(members: Readonly<Record<string, unknown>>): Sabotage {
  return (made) => forge(made, { claims: { ...made.claims, ...members } });
}

export function changedHeader(change: (json: string) => string | Buffer): Sabotage {
  return (made) => forge(made, { header: change(JSON.stringify(made.header)) });
}

export function changedClaims(change: (json: string) => string | Buffer): Sabotage {
  return (made) => forge(made, { claims: change(JSON.stringify(made.claims)) });
}

/** The claims as JSON text with one member more, in a spelling that no value has. */
export function claimsText(member: string, without: string[] = []): Sabotage {
  return (made) => {
    const kept = Object.entries(made.claims).filter(([name]) => !without.includes(name));
    return forge(made, { claims: `${JSON.stringify(Object.fromEntries(kept)).slice(0, -1)},${member}}` });
  };
}

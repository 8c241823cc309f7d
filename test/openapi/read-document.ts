import type { Running } from '../start.ts';

/** The parts of the service's OpenAPI document that the tests read. */
export interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, { readonly examples?: readonly unknown[] }>>;
    readonly responses: Readonly<Record<string, Response>>;
    readonly securitySchemes?: Readonly<Record<string, { readonly description: string }>>;
  };
}

export interface Response {
  readonly $ref?: string;
  readonly content?: Readonly<Record<string, MediaType>>;
}

interface Problem {
  readonly title: string;
  readonly traceId: string;
}

interface MediaType {
  readonly examples?: Readonly<Record<string, { readonly value: Problem }>>;
}

export interface Operation {
  readonly operationId: string;
  readonly description: string;
  readonly security: unknown;
  readonly 'x-policy'?: string;
  readonly responses: Readonly<Record<string, Response>>;
}

/** The document as text: what a validator and a linter read. */
export async function readDocument({ baseUrl }: Pick<Running, 'baseUrl'>): Promise<string> {
  return (await fetch(`${baseUrl}/openapi/v1.json`)).text();
}

/** Each operation by its name, for example `GET /todos/{id}`. */
export function operationsOf({ paths }: OpenApiDocument): Record<string, Operation> {
  const named = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([member]) => member !== 'parameters')
      .map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation as Operation] as const),
  );
  return Object.fromEntries(named);
}

import type { Route } from '../http/message/routes.ts';
import { reasonPhrase } from '../problem/catalogue.ts';
import { componentSchemas } from './components.ts';
import type { Answer, Operation, Overview } from './operation.ts';
import { type ProblemResponse, problemResponse, problemsOfKind } from './problems.ts';

/** A route and what it says of itself. */
type DescribedRoute = Pick<Route, 'method' | 'path' | 'access'> & { readonly operation: Operation };

const ERRORS = `## Errors

Every error is a Problem Details body (RFC 9457) of type \`application/problem+json\`. When \`Accept\` does not admit
that, it is one line of \`text/plain\`, and for a 500 no body at all. \`traceId\` names the request in the log.

Beside the responses listed with an operation:

- 404 for a path that is none of these, and 405 with \`Allow\` for another method; \`HEAD\` answers as \`GET\` does
- 400, 408, 417 and 431 for requests that are malformed, slow or larger than HTTP servers accept`;

/** The OpenAPI 3.1 document of the routes that say what they do. */
export function composeDocument(
  { title, description, tags }: Overview,
  routes: readonly Route[],
): Record<string, unknown> {
  const described = routes.flatMap(({ operation, ...route }) => (operation ? [{ ...route, operation }] : []));
  const { schemas, refer } = componentSchemas();
  const responses: Record<string, unknown> = {};

  /** Responses that endpoints have in common are components, named after the reason phrase. */
  const share = (status: number, response: ProblemResponse): object => {
    const name = String(reasonPhrase(status)).replaceAll(' ', '');
    responses[name] ??= refer(response);
    return { $ref: `#/components/responses/${name}` };
  };
  const problemsOf = (route: DescribedRoute): [string, unknown][] => {
    const common = problemsOfKind({
      access: route.access,
      hasId: route.path.includes('/:id'),
      readsBody: route.operation.requestBody !== undefined,
    });
    const own = route.operation.problems ?? [];
    return [...Map.groupBy([...own, ...common], ({ status }) => status)].map(([status, problems]) => {
      const response = problemResponse(status, problems);
      const isOwn = own.some((problem) => problem.status === status);
      return [String(status), isOwn ? response : share(status, response)];
    });
  };

  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of described) {
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] ??= route.path.includes('/:id') ? { parameters: [ID] } : {};
    paths[path][route.method.toLowerCase()] = refer({
      ...statements(route),
      responses: Object.fromEntries([...route.operation.answers.map(responseOf), ...problemsOf(route)]),
    });
  }
  const needsToken = described.some(({ access }) => access !== 'open');
  return {
    openapi: '3.1.1',
    info: {
      title,
      version: 'v1',
      description: `${description}\n\n${ERRORS}`,
      contact: { name: 'Whoever runs this service' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    tags,
    paths,
    components: { schemas, responses, securitySchemes: needsToken ? { bearer: BEARER } : undefined },
  };
}

/** Contract R2. */
const ID = {
  name: 'id',
  in: 'path',
  required: true,
  description: 'The id of a todo. The service assigns ids from 1 upwards.',
  schema: { type: 'integer', format: 'int32', minimum: -2_147_483_648, maximum: 2_147_483_647 },
  example: 1,
};

const BEARER = {
  type: 'http',
  scheme: 'bearer',
  bearerFormat: 'JWT',
  description: 'A token of the identity provider that the service trusts.',
};

/**
 * The members of an Operation Object before `responses`. Linters take a role in `security` for a scope that is not
 * defined, so it stands beside it.
 */
function statements({ access, operation }: DescribedRoute): object {
  const { operationId, tag, summary, description, requestHeaders, requestBody } = operation;
  const needsRole = access === 'CanWriteTodos';
  return {
    operationId,
    tags: [tag],
    summary,
    description: needsRole
      ? `${description}\n\nNeeds the role \`editor\` (policy \`CanWriteTodos\`).`
      : description,
    'x-policy': needsRole ? access : undefined,
    security: access === 'open' ? [] : [{ bearer: [] }],
    parameters: requestHeaders?.map((header) => ({ ...header, in: 'header' })),
    requestBody: requestBody && { required: true, content: { 'application/json': { schema: requestBody } } },
  };
}

function responseOf({ status, description, headers, body }: Answer): [string, unknown] {
  const content = body && { 'application/json': { schema: body } };
  return [String(status), { description, headers, content }];
}

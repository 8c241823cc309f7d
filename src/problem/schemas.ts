// JSON Schema literals for the OpenAPI document; `$id` is the name of the component.

/** The body of every error, members in the order of contract P2. Extension members are allowed (RFC 9457 §3.2). */
export const ProblemDetails = {
  $id: 'ProblemDetails',
  type: 'object',
  description: 'Problem Details, RFC 9457.',
  required: ['title', 'status', 'traceId'],
  properties: {
    type: {
      type: 'string',
      format: 'uri',
      description:
        'The section of RFC 9110 that defines the status code; absent for a code that it does not define.',
    },
    title: { type: 'string', description: 'Short summary, identical for the same kind of error.' },
    status: {
      type: 'integer',
      format: 'int32',
      minimum: 400,
      maximum: 599,
      description: 'Equals the status of the response.',
    },
    detail: { type: 'string', description: 'Explanation specific to this occurrence.' },
    traceId: {
      type: 'string',
      pattern: '^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$',
      description:
        'W3C Trace Context, different for every request. The log lines of the request have the same string.',
    },
  },
} as const;

/** The body of a validation failure (contract B12). */
export const HttpValidationProblemDetails = {
  $id: 'HttpValidationProblemDetails',
  description: 'Problem Details of a body that breaks rules of its schema.',
  allOf: [ProblemDetails],
  type: 'object',
  required: ['errors'],
  properties: {
    errors: {
      type: 'object',
      description: 'The failing members, all at once, each with sentences for people.',
      additionalProperties: { type: 'array', minItems: 1, items: { type: 'string' } },
    },
  },
} as const;

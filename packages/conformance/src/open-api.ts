/** The parts of an OpenAPI 3.1 document that the checks read. */
export interface OpenApi {
  readonly openapi: string;
  readonly info: { readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly securitySchemes?: Readonly<Record<string, { readonly type: string; readonly scheme: string }>>;
  };
}

export interface Operation {
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, unknown>> }>>;
}

/** The operations of a path item, without the members for all of them. */
export function operationsOf(pathItem: Readonly<Record<string, Operation>>): readonly Operation[] {
  return Object.values(pathItem).filter((member) => 'responses' in member);
}

/**
 * Collects schemas with an `$id` while references take their place. The name stays out of the component itself:
 * there, `$id` would be a base URI.
 */
export function componentSchemas(): {
  /** By name. Grows with every call of `refer`. */
  readonly schemas: Readonly<Record<string, unknown>>;
  /** `value` as JSON has it, with a reference to its component for every schema with an `$id`, at any depth. */
  refer(value: unknown): unknown;
} {
  const schemas: Record<string, unknown> = {};

  function refer(value: unknown): unknown {
    return JSON.parse(
      JSON.stringify(value, (_key, inner) => (inner?.$id === undefined ? inner : named(inner))),
    );
  }

  function named({ $id, ...schema }: Record<string, unknown>): object {
    const name = String($id);
    schemas[name] ??= refer(schema);
    return { $ref: `#/components/schemas/${name}` };
  }

  return { schemas, refer };
}

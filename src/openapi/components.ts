/**
 * Collects schemas with an `$id` while references take their place. The name stays out of the component itself:
 * there, `$id` would be a base URI.
 */
export function componentSchemas(): {
  /** By name. Grows with every call of `refer`. */
  readonly schemas: Readonly<Record<string, unknown>>;
  /** A copy of `value` in which every schema with an `$id`, at any depth, is a reference to its component. */
  refer(value: unknown): unknown;
} {
  const schemas: Record<string, unknown> = {};

  function refer(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(refer);
    if (typeof value !== 'object' || value === null) return value;
    if (!('$id' in value)) return copy(value);
    const { $id, ...schema } = value;
    const name = String($id);
    schemas[name] ??= copy(schema);
    return { $ref: `#/components/schemas/${name}` };
  }

  function copy(value: object): object {
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, refer(inner)]));
  }

  return { schemas, refer };
}

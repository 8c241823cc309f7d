import fc from 'fast-check';

/** Bytes of a value: with the other lines, a head is near its limit of 16 KiB. */
const LONGEST = 15_000;

/** Bytes of a body, near its limit of 64 KiB. */
const LONGEST_BODY = 65_000;

/** A value that begins well, goes on with so many times the same, and ends badly. */
export interface Hostile {
  /** A header in lower case, or `:target` or `:body`. */
  readonly field: string;
  readonly begin: string;
  readonly repeated: string;
  readonly times: number;
  readonly end: string;
}

/** Every header that is read, the target and the body, each with what a good value may begin with. */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  ':body': ['', '"', '{"title":"', '{"title":"x","categoryId":'],
  ':target': ['/todos/', '/todos/1?', 'http://x/', '/'],
  accept: ['a/b', 'application/json', ''],
  'accept-encoding': ['gzip', ''],
  'access-control-request-headers': ['authorization', ''],
  'access-control-request-method': ['PUT', ''],
  authorization: ['Bearer ', 'Bearer a.b.', ''],
  connection: ['close', ''],
  'content-encoding': ['identity', ''],
  'content-type': ['application/json', 'application/json;a="', 'application/a', ''],
  expect: ['100-continue', ''],
  host: ['x', '[::', ''],
  'idempotency-key': ['"', 'a', ''],
  'if-match': ['"a"', '"', 'W/"a"', ''],
  'if-none-match': ['"a"', '"', 'W/"a"', ''],
  origin: ['https://', ''],
  traceparent: ['00-', '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', ''],
  tracestate: ['a=', ''],
  'transfer-encoding': ['chunked', ''],
  upgrade: ['websocket', ''],
};

const ATOMS = [
  ...[
    ' ',
    '\t',
    ',',
    ', ',
    ';',
    '; ',
    '"',
    '\\',
    '\\"',
    '=',
    '/',
    '.',
    '-',
    ':',
    '%',
    '%25',
    '+',
    '*',
    '*/*,',
  ],
  ...[
    'a',
    '0',
    'a=',
    'a="',
    '";',
    ';a',
    ';a=a',
    ';a="";',
    ';q=',
    ';q=0',
    ';q=0.5,',
    '"a",',
    'W/"a",',
    'W/',
    'a/b,',
  ],
  ...['{"a":', '[', '\\u0000', '1e', '\xff'],
];

const ENDS = ['!', '', '"'];

/** A target has no white space: the parser of requests ends it there. */
function isSendable({ field, begin, repeated, end }: Hostile): boolean {
  return field !== ':target' || !/[^!-~]/.test(begin + repeated + end);
}

function longest(field: string): number {
  return field === ':body' ? LONGEST_BODY : LONGEST;
}

/** Every atom in every field, as often as fits, after what the field may well begin with. */
export function everyAtom(): Hostile[] {
  const fields = Object.entries(FIELDS);
  return fields
    .flatMap(([field, begins]) =>
      ATOMS.flatMap((repeated) =>
        ENDS.map((end, index) => ({
          field,
          begin: begins[index % begins.length] ?? '',
          repeated,
          times: Math.floor(longest(field) / repeated.length),
          end,
        })),
      ),
    )
    .filter(isSendable);
}

/** Several atoms repeated together, after any beginning. */
export function anyHostile(): fc.Arbitrary<Hostile> {
  const begins = Object.values(FIELDS).flat();
  const size = fc.oneof(fc.constant(1), fc.double({ min: 0, max: 1, noNaN: true }));
  return fc
    .record({
      field: fc.constantFrom(...Object.keys(FIELDS)),
      own: fc.boolean(),
      any: fc.constantFrom(...begins),
      index: fc.nat(3),
      atoms: fc.array(fc.constantFrom(...ATOMS), { minLength: 1, maxLength: 4 }),
      size,
      end: fc.constantFrom(...ENDS, ...ATOMS),
    })
    .map(({ field, own, any, index, atoms, size, end }) => {
      const repeated = atoms.join('');
      const mine = FIELDS[field] ?? [];
      const begin = own ? (mine[index % mine.length] ?? '') : any;
      return { field, begin, repeated, times: Math.floor((size * longest(field)) / repeated.length), end };
    })
    .filter(isSendable);
}

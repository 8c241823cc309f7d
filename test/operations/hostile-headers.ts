import fc from 'fast-check';
import { BEGINNINGS, REPEATED } from './hostile-values.ts';

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
  const fields = Object.entries(BEGINNINGS);
  return fields
    .flatMap(([field, begins]) =>
      REPEATED.flatMap((repeated) =>
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
  const begins = Object.values(BEGINNINGS).flat();
  const size = fc.oneof(fc.constant(1), fc.double({ min: 0, max: 1, noNaN: true }));
  return fc
    .record({
      field: fc.constantFrom(...Object.keys(BEGINNINGS)),
      own: fc.boolean(),
      any: fc.constantFrom(...begins),
      index: fc.nat(3),
      atoms: fc.array(fc.constantFrom(...REPEATED), { minLength: 1, maxLength: 4 }),
      size,
      end: fc.constantFrom(...ENDS, ...REPEATED),
    })
    .map(({ field, own, any, index, atoms, size, end }) => {
      const repeated = atoms.join('');
      const mine = BEGINNINGS[field] ?? [];
      const begin = own ? (mine[index % mine.length] ?? '') : any;
      return { field, begin, repeated, times: Math.floor((size * longest(field)) / repeated.length), end };
    })
    .filter(isSendable);
}

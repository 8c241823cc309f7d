/** Longest name of a category, in Unicode code points. */
const MAX_LENGTH = 100;

/** One line of text without gaps around it: it is read in a list. No U+0000 and no lone surrogate: storable. */
const NAME = /^(?!\s)[^\p{Cc}\p{Cs}]+(?<!\s)$/u;

/** What is wrong with the name of a new category, for people, or undefined. */
export function categoryNameFault(name: string): string | undefined {
  if (!NAME.test(name)) {
    return (
      'NAME must be one line of text without white space around it or control characters, ' +
      `received ${JSON.stringify(name)}`
    );
  }
  const length = [...name].length;
  return length <= MAX_LENGTH
    ? undefined
    : `NAME must have at most ${MAX_LENGTH} characters, received ${length}`;
}

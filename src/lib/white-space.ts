/** White space around text that was copied: also Unicode's that `\s` leaves out, and the blank without width. */
const WHITE_SPACE = /^[\s\u0085\u200b]$/;

export function isWhiteSpace(character: string | undefined): boolean {
  return character !== undefined && WHITE_SPACE.test(character);
}

/** Whether a "#", which begins a comment in many files, stands behind white space. */
export function hasComment(text: string): boolean {
  return text
    .split('#')
    .slice(0, -1)
    .some((before) => isWhiteSpace(before.at(-1)));
}

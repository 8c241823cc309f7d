/** The admin listener cannot be opened. The message is one line for people (exit code 69). */
export class AdminNotOpened extends Error {
  override readonly name = 'AdminNotOpened';
}

/** A key file that cannot be used, or no longer. The message is one line for people, without any of its content. */
export class KeysNotOpened extends Error {
  override readonly name = 'KeysNotOpened';
}

/** Keys or a secret could not be had. The reason is words for people, without any of the content. */
export interface Failed {
  readonly outcome: 'failed';
  readonly reason: string;
}

export function failed(reason: string): Failed {
  return { outcome: 'failed', reason };
}

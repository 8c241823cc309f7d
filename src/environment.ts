/** Production unless told otherwise (contract A12). Development serves its document and makes its own key. */
export const ENVIRONMENTS = ['development', 'production'] as const;
export type Environment = (typeof ENVIRONMENTS)[number];

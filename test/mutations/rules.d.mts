export interface Rule {
  readonly name: string;
  /** From the project's root. */
  readonly source: string;
  readonly find: string;
  readonly replace: string;
  readonly test: string;
  readonly title: string;
}

export const rules: readonly Rule[];

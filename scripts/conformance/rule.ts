/** A rule that somebody can rely on, in our own words. */
export interface Rule {
  /** Where the rule stands in its source. */
  readonly section: string;
  readonly rule: string;
  /**
   * The tests that show it: `test/token-endpoint.test.ts > the refresh token grant > title`, as Vitest lists them. One row
   * of a table is named in brackets by its first column: `… > a redirect_uri with %s [a query]`.
   */
  readonly tests: readonly string[];
  /** Why there is nothing to show: the rule is about something that this server has not. */
  readonly notApplicable?: string;
  /** Why the server does not follow the rule. */
  readonly notDone?: string;
}

/** The rules of one source, or of one part of it. */
export interface Chapter {
  /** Such as `RFC 7636`. */
  readonly source: string;
  readonly about: string;
  readonly rules: readonly Rule[];
}

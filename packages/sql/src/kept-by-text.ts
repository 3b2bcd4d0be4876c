const MOST_KEPT = 1000;

/**
 * Returns a function that caches the results of `compute` by statement text, up to a limited number
 * of texts.
 */
export function keptByText<T>(compute: (sql: string) => T): (sql: string) => T {
  const kept = new Map<string, T>();
  return (sql) => {
    let result = kept.get(sql);
    if (result === undefined) {
      result = compute(sql);
      if (kept.size < MOST_KEPT) kept.set(sql, result);
    }
    return result;
  };
}

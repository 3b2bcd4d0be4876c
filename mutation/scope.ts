export const TESTS: readonly string[] = (process.env['MT'] ?? 'test/token-endpoint.test.ts').split(',');

/**
 * The built-in views by name. Empty in the source code, which reads views from their folders. The
 * build fills it, so the published package reads no view files and bundlers can move its files.
 */
export const EMBEDDED_VIEWS: Readonly<Record<string, string>> = {};

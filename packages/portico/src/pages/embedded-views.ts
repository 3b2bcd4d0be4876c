/**
 * The built-in views, by name. In the source code, this object is empty, and views are read from
 * their folders. The build fills it, so that the published package reads no view files and bundlers
 * can move the package's files.
 */
export const EMBEDDED_VIEWS: Readonly<Record<string, string>> = {};

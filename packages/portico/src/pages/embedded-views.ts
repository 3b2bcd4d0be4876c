/**
 * The built-in views, by name. The build fills this object, so that the published package reads no
 * view files and bundlers can move its files. In the source code, the object is empty, and the
 * views are read from their folders.
 */
export const EMBEDDED_VIEWS: Readonly<Record<string, string>> = {};

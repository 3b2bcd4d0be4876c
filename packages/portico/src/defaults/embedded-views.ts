/**
 * The built-in views, by name. The build fills in this object, so that the published package reads
 * no folder and a bundler can move it. In the sources, the object is empty, and the folders are
 * read instead.
 */
export const EMBEDDED_VIEWS: Readonly<Record<string, string>> = {};

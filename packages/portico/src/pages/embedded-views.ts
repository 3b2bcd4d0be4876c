/**
 * The built-in views, by name. The build fills this object, so that the published package reads no
 * folder and bundlers can move it. In the source code, the object is empty and the folders are read
 * instead.
 */
export const EMBEDDED_VIEWS: Readonly<Record<string, string>> = {};

/**
 * The built-in views, by name. The build adds them to this object. So the published package reads
 * no folder, and bundlers can move its files. Before the build, the object is empty, and the views
 * are read from their folders.
 */
export const EMBEDDED_VIEWS: Readonly<Record<string, string>> = {};

/**
 * The built-in views by name. The build fills this object in the published package. So the package
 * reads no folder, and a bundler can move it. In the sources the object is empty, and the kit reads
 * the folders instead.
 */
export const EMBEDDED_VIEWS: Readonly<Record<string, string>> = {};

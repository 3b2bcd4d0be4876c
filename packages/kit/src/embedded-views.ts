/**
 * The built-in views by name. When the package is published, the build fills this object, so that
 * the package reads no files and can be bundled. In the source code, the object is empty, and the
 * kit reads the views from their folders.
 */
export const EMBEDDED_VIEWS: Readonly<Record<string, string>> = {};

/**
 * The built-in views by name. In the published package, the build has filled this object, so that
 * the package needs no files and can be bundled. In the source code, it is empty, and the kit reads
 * the view folders instead.
 */
export const EMBEDDED_VIEWS: Readonly<Record<string, string>> = {};

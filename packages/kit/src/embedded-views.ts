/**
 * The built-in views by name. The build fills this object in the published package, so that the
 * package reads no folder and can be bundled. In the source code, the object is empty, and the kit
 * reads the views from their folders.
 */
export const EMBEDDED_VIEWS: Readonly<Record<string, string>> = {};

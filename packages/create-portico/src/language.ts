/**
 * Adapts a template to the application's language. Keeps the text between « and » for TypeScript,
 * and removes it for JavaScript.
 */
export function forLanguage(text: string, language: 'typescript' | 'javascript'): string {
  return language === 'typescript'
    ? text.replaceAll(/[«»]/g, '')
    : text.replaceAll(/«[^»]*»/g, '').replaceAll(/\n{3,}/g, '\n\n');
}

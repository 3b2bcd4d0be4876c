/**
 * The search of the site. It uses MiniSearch in the browser, with an index that the build writes.
 * The build uses only `options`, and a query uses both.
 */

/** Words of a query that appear on almost every page. */
const IGNORED = new Set(
  (
    'a about after an and any anyone are as at be been but by can cannot could did do ' +
    'does doing each every for from get gets getting had has have how i if in instead ' +
    'into is it its js just keep keeps let like make makes me mean my need needs no not now ' +
    'of off on one or our own please possible put should so some someone something still ' +
    'that the their them then there these they this those to too up us use used using ' +
    'want was we were what when where which who why will with work works would you your ' +
    'yours'
  ).split(' '),
);

/**
 * The terms that the pages use for a word of a query. They include the word itself if the pages
 * also use it.
 */
const CALLED: Readonly<Record<string, string>> = {
  signout: 'sign logout session end',
  next: 'next router',
  signin: 'sign login',
  ban: 'suspend block',
  user: 'person account user',
  app: 'application client app',
  docker: 'container docker',
  keycloak: 'moving import',
  migrate: 'migrate moving import',
  german: 'language translation german',
  translate: 'language translate word',
  screen: 'page screen',
  logo: 'logo branding',
  mismatch: 'match refuse mismatch',
  loop: 'asked again loop',
  cli: 'command console',
  register: 'register registration create',
  create: 'create register',
  error: 'error refuse',
  broken: 'error fail',
  database: 'database store',
  blocked: 'block limit refuse',
  attempt: 'attempt guess',
  backend: 'server',
  proxy: 'proxy nginx',
  tenant: 'issuer',
  metric: 'metric telemetry',
  theme: 'branding colour',
  color: 'colour branding',
  delete: 'delete erase remove',
  update: 'update upgrade change',
  version: 'version release',
  company: 'organisation',
  mobile: 'native',
  spa: 'public browser',
  llm: 'assistant mcp',
  ai: 'assistant mcp',
  agent: 'assistant mcp',
  forgotten: 'lost forgot',
  lost: 'lost forgot new',
  permission: 'permission consent scope',
  replace: 'replace rotate rotation',
};

/**
 * Returns a word without its ending, so that "expired", "expires" and "expire" become the same
 * word.
 */
function stemOf(term: string): string {
  const word = term.toLowerCase().replaceAll(/['’]s?$/g, '');
  if (word.length < 4 || /\d/.test(word)) return word;
  return word
    .replace(/ies$/, 'y')
    .replace(/(?<=s|x|ch|sh)es$/, '')
    .replace(/(?<![su])s$/, '')
    .replace(/(?<=.{3})(?:ing|ed|ion)$/, '')
    .replace(/(?<=.{4})e$/, '')
    .replace(/([bdgmnprt])\1$/, '$1');
}

/**
 * Returns the words of a query. Two words with one meaning become one word: "log me out" becomes
 * "signout".
 */
const wordsOf = (question: string): string[] =>
  question
    .toLowerCase()
    .replaceAll(/\b(?:log|sign)(?:s|ged|ging|ed|ing)?(?: \w+){0,3}?[ -]?(?:out|off)\b/g, 'signout')
    .replaceAll(/\b(?:log|sign)(?:s|ged|ging|ed|ing)?(?: \w+){0,3}?[ -]?(?:in|on)\b/g, 'signin')
    .replaceAll(/\bback(?:ing)? ups?\b/g, 'backup')
    .replaceAll(/\bset(?:ting)? up\b/g, 'setup')
    .split(/[\s\p{P}\p{S}]+/u)
    .filter((word) => word !== '');

/** Returns the terms to search for a word of a query. Returns null if the word is ignored. */
function termsOf(word: string): string[] | null {
  if (IGNORED.has(word)) return null;
  const called = CALLED[word] ?? CALLED[stemOf(word)] ?? word;
  return called.split(' ').map(stemOf);
}

/** The weights of the pages. Guides come before reference pages. */
const WEIGHTS: readonly (readonly [pages: RegExp, weight: number])[] = [
  [/\/(?:reference\/|specification\.|standards\.|dependencies\.)/, 0.3],
  [/\/(?:benchmarks|architecture|contributing|assurance|threat-model|packages)\b/, 0.4],
  [/\/(?:messages|configuration|console)\./, 0.7],
  [/\/program-messages\./, 0.4],
  [/\/concepts\/glossary\b/, 0.8],
  [/\/concepts\//, 1.3],
];

/** `id` is the address of a section. The beginning of a page has more weight than its sections. */
function weightOf(id: string): number {
  const [page = '', anchor] = id.split('#');
  return WEIGHTS.find(([pages]) => pages.test(page))?.[1] ?? (anchor === undefined ? 1.2 : 1);
}

/** The setting `themeConfig.search.options.miniSearch` for VitePress. */
export const SEARCH = {
  options: { processTerm: stemOf },
  searchOptions: {
    tokenize: wordsOf,
    processTerm: termsOf,
    boostDocument: weightOf,
    boost: { title: 3, titles: 2, text: 1 },
    fuzzy: (term: string) => (term.length > 5 ? 0.15 : false),
    prefix: (term: string) => term.length > 2,
    maxFuzzy: 1,
  },
};

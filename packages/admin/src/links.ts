import { ADMINISTRATION_PATH } from './table.ts';

/** The URLs of the pages, as paths with the `base_path`. */
export interface PageLinks {
  readonly overview: string;
  readonly clients: string;
  readonly rotations: string;
  readonly keys: string;
  readonly registration: string;
  readonly access: string;
  readonly audit: string;
  readonly doctor: string;
  /** Returns the URL of a client's page, with the parameters in `about` added to the query. */
  client(id: string, about?: Readonly<Record<string, string>>): string;
  /** Returns the URL of a user's page, with the parameters in `about` added to the query. */
  person(provider: string, id: string, about?: Readonly<Record<string, string>>): string;
}

export function pageLinks(basePath: string): PageLinks {
  const overview = `${basePath}${ADMINISTRATION_PATH}`;
  return {
    overview,
    clients: `${overview}/clients`,
    rotations: `${overview}/rotations`,
    keys: `${overview}/keys`,
    registration: `${overview}/registration`,
    access: `${overview}/access`,
    audit: `${overview}/audit`,
    doctor: `${overview}/doctor`,
    client: (id, about = {}) => withQuery(`${overview}/client`, { id, ...about }),
    person: (provider, id, about = {}) =>
      withQuery(`${overview}/person`, { provider, id, ...about }),
  };
}

/** Returns the URL of the page that registers an application. */
export function registrationLink({ clients }: PageLinks): string {
  return withQuery(clients, { ask: 'register' });
}

/** Adds the parameters to the path's query. Omits empty parameters. */
export function withQuery(path: string, parameters: Readonly<Record<string, string>>): string {
  const query = new URLSearchParams(Object.entries(parameters).filter(([, value]) => value !== ''));
  return query.size === 0 ? path : `${path}?${query}`;
}

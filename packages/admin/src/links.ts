import { ADMINISTRATION_PATH } from './table.ts';

/** The paths of the administrator's pages, including the `base_path`. */
export interface PageLinks {
  readonly overview: string;
  readonly clients: string;
  readonly rotations: string;
  readonly keys: string;
  readonly registration: string;
  readonly access: string;
  readonly audit: string;
  readonly doctor: string;
  /** Returns the path of a client's page. Adds the parameters in `about` to the query. */
  client(id: string, about?: Readonly<Record<string, string>>): string;
  /** Returns the path of a user's page. Adds the parameters in `about` to the query. */
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

/** Returns the path of the form that registers an application. */
export function registrationLink({ clients }: PageLinks): string {
  return withQuery(clients, { ask: 'register' });
}

/** Adds the parameters to the path as a query. Omits parameters with an empty value. */
export function withQuery(path: string, parameters: Readonly<Record<string, string>>): string {
  const query = new URLSearchParams(Object.entries(parameters).filter(([, value]) => value !== ''));
  return query.size === 0 ? path : `${path}?${query}`;
}

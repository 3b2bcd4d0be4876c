import type { Route } from 'portico';
import { describe, expect, test } from 'vitest';
import { HttpError } from '../errors.ts';
import { type MethodError, Routes } from './routes.ts';

describe('the routes of an application', () => {
  const named = (name: string, at: string, ...methods: Route['methods']): Route => ({
    name,
    methods: methods.length === 0 ? ['GET'] : methods,
    path: at,
    handler: () => new Response(name),
  });
  const containing = (...all: readonly Route[]) => {
    const routes = new Routes('/app');
    for (const each of all) routes.add(each);
    return routes;
  };
  const item = named('item', '/items/{id}');

  test.each<[Route, string]>([
    [named('item', '/other'), "Two routes have the name 'item'"],
    [named('one', 'other/'), "The path of the route 'one' must begin with /"],
    [named('one', '/items/{id}.json'), "The path of the route 'one' is /items/{id}.json, but"],
    [named('one', '/a/{b}-/c'), "The path of the route 'one' is /a/{b}-/c, but"],
    [
      named('one', '/items/{key}', 'POST', 'GET'),
      "The routes 'item' and 'one' have the same path: GET /items/{}",
    ],
  ])('do not accept %j', (route, message) => {
    const routes = containing(item);
    expect(() => routes.add(route)).toThrow(message);
    expect([routes.has('item'), routes.has('one')]).toEqual([true, false]);
  });

  test('accept one path for two methods', () => {
    const routes = containing(item, named('change', '/items/{id}', 'POST'));
    expect(routes.match('POST', '/items/1').route.name).toBe('change');
    expect(routes.match('GET', '/items/1').route.name).toBe('item');
  });

  test('find a path and its placeholders, again and again', () => {
    const routes = containing(item, named('list', '/items'), named('weather', '/größe'));
    for (const id of ['a%2Fb', '1', 'a%2Fb'])
      expect(routes.match('GET', `/items/${id}`)).toEqual({
        route: item,
        kind: 'plugin',
        parameters: { id: decodeURIComponent(id) },
      });
    for (const method of ['GET', 'HEAD', 'GET'])
      expect(routes.match(method, '/items').route.name).toBe('list');
    expect(routes.match('GET', '/gr%C3%B6%C3%9Fe').route.name).toBe('weather');
    for (const wrong of ['/items/%', '/items/%ff', '/items/a/b', '/nowhere', '/'])
      expect(() => routes.match('GET', wrong)).toThrow(
        new HttpError(404, 'No route has this path'),
      );
  });

  test('name the methods of a path, without those that a route refuses', () => {
    const refusing = { ...named('refusing', '/own'), refusesMethods: true } as const;
    const routes = containing(item, refusing, named('own', '/own', 'POST', 'PUT'));
    const refusal = (method: string, at: string) => {
      try {
        return routes.match(method, at).route.name;
      } catch (error) {
        const { status, headers, route } = error as MethodError;
        return [status, headers, route];
      }
    };
    expect(refusal('DELETE', '/own')).toEqual([405, { Allow: 'POST, PUT' }, 'refusing']);
    expect(refusal('DELETE', '/items/1')).toEqual([405, { Allow: 'GET, HEAD' }, 'item']);
  });

  test('answer the path of a different route with any method, or a method with placeholders', () => {
    const routes = containing(item, named('change', '/größe', 'POST'));
    const answered = ['/größe', '/items/7', '/items', '/items/%'].map((at) =>
      routes.answers(named('one', at, 'PUT', 'GET')),
    );
    expect(answered).toEqual([true, true, false, false]);
    expect(routes.answers(named('one', '/items/7', 'PUT'))).toBe(false);
  });

  test('have paths as browsers request them', () => {
    const routes = containing(item, named('weather', '/größe'));
    expect(routes.path('item', { id: 'a/b' })).toBe('/app/items/a%2Fb');
    expect(routes.path('weather')).toBe('/app/gr%C3%B6%C3%9Fe');
    expect(() => routes.path('item')).toThrow("The route 'item' needs a value for {id}");
    expect(() => routes.path('one')).toThrow("There is no route 'one'");
  });
});

import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Eta } from 'eta';
import { locateErrors, ViewError } from './view-errors.ts';
import { builtInFolder, createViews } from './views.ts';

describe('a view', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'portico-views-'));
    await Promise.all(
      ['own', 'plugin/oauth'].map((name) => mkdir(path.join(folder, name), { recursive: true })),
    );
  });
  afterEach(() => rm(folder, { recursive: true }));
  const write = (name: string, text: string) => writeFile(path.join(folder, name), text);
  const views = () => createViews([path.join(folder, 'own'), path.join(folder, 'plugin')]);

  test('comes from the first folder that contains it', async () => {
    await write('plugin/oauth/consent.eta', 'the plugin');
    expect(await views().render('oauth/consent', {})).toBe('the plugin');
    await mkdir(path.join(folder, 'own', 'oauth'));
    await write('own/oauth/consent.eta', 'the application');
    expect(await views().render('oauth/consent', {})).toBe('the application');
  });

  test('may override a layout in the same way', async () => {
    await write('plugin/page.eta', "<% layout('layout') %>body");
    await write('plugin/layout.eta', 'plugin: <%~ it.body %>');
    expect(await views().render('page', {})).toBe('plugin: body');
    await write('own/layout.eta', 'own: <%~ it.body %>');
    expect(await views().render('page', {})).toBe('own: body');
  });

  test('does not change after the application has started', async () => {
    await write('plugin/page.eta', "<% layout('layout') %>body");
    await write('plugin/layout.eta', 'layout: <%~ it.body %>');
    await write('plugin/oauth/page.eta', 'in a folder');
    const running = views();
    await write('plugin/layout.eta', 'a later one: <%~ it.body %>');
    await rm(path.join(folder, 'plugin', 'page.eta'));
    expect(await running.render('page', {})).toBe('layout: body');
    await rm(path.join(folder, 'plugin'), { recursive: true });
    expect(await running.render('page', {})).toBe('layout: body');
    expect(await running.render('oauth/page', {})).toBe('in a folder');
  });

  test('is found behind a linked folder, and stays readable after it was read', async () => {
    const elsewhere = path.join(folder, 'elsewhere');
    await mkdir(elsewhere);
    await write('elsewhere/consent.eta', 'the application, by a link');
    await write('plugin/oauth/consent.eta', 'the plugin');
    await symlink(elsewhere, path.join(folder, 'own', 'oauth'));
    const running = views();
    expect(await running.render('oauth/consent', {})).toBe('the application, by a link');
    await rm(elsewhere, { recursive: true });
    expect(await running.render('oauth/consent', {})).toBe('the application, by a link');
  });

  test('that is added later is found, and stays readable after it was read', async () => {
    const running = views();
    await write('own/page.eta', 'added');
    expect(await running.render('page', {})).toBe('added');
    await rm(path.join(folder, 'own', 'page.eta'));
    expect(await running.render('page', {})).toBe('added');
  });

  test('can change at any time if views are reloaded', async () => {
    await write('plugin/page.eta', "<% layout('layout') %>body");
    await write('plugin/layout.eta', 'layout: <%~ it.body %>');
    const running = createViews([path.join(folder, 'own'), path.join(folder, 'plugin')], {
      reloads: true,
    });
    expect(await running.render('page', {})).toBe('layout: body');
    await write('plugin/layout.eta', 'a later one: <%~ it.body %>');
    expect(await running.render('page', {})).toBe('a later one: body');
    await write('own/layout.eta', 'own: <%~ it.body %>');
    expect(await running.render('page', {})).toBe('own: body');
    expect(await running.problems()).toEqual([]);
    await write('own/broken.eta', '<% if (it.a) { %>');
    expect((await running.problems()).map(({ file }) => file)).toEqual([
      path.join(folder, 'own', 'broken.eta'),
    ]);
  });

  test('can be part of a package, which the application overrides', async () => {
    const views = {
      'built/page': '<% layout("built/layout") %>body',
      'built/layout': 'b: <%~ it.body %>',
    };
    const builtIn = builtInFolder(`test:${folder}`, () => 'never used', views);
    const folders = [path.join(folder, 'own'), builtIn, builtIn];
    for (const reloads of [true, false])
      expect(await createViews(folders, { reloads }).render('built/page', {})).toBe('b: body');
    await mkdir(path.join(folder, 'own', 'built'));
    await write('own/built/layout.eta', 'own: <%~ it.body %>');
    expect(await createViews(folders).render('built/page', {})).toBe('own: body');
    await expect(createViews(folders).render('missing', {})).rejects.toThrow(
      `There is no view 'missing' in ${folders.slice(0, 2).join(' or ')}`,
    );
    expect(builtInFolder('test:none', () => folder, {})).toBe(folder);
  });

  test('gets the words, the data of all views and its own data, which comes last', async () => {
    await write('own/page.eta', '<%= it.one %> <%= it.two %> <%= typeof it.t %>');
    const data = { one: 'everywhere', two: 'everywhere' };
    const running = createViews([path.join(folder, 'own')], { data });
    expect(await running.render('page', { two: 'own' })).toBe('everywhere own function');
    expect(await views().render('page', { one: 1, two: 2, t: '' })).toBe('1 2 string');
  });

  test('keeps its spaces and line breaks', async () => {
    await write('own/page.eta', '<p>\n  <%= it.one %>\n\n</p>\n');
    expect(await views().render('page', { one: 1 })).toBe('<p>\n  1\n\n</p>\n');
  });

  test('that cannot be read causes the error of the file system', async () => {
    await mkdir(path.join(folder, 'own', 'page.eta'));
    await write('own/text.txt', '<% if (it.a) { %>');
    await write('plugin/page.eta', 'the plugin');
    await expect(views().render('page', {})).rejects.toThrow('EISDIR');
    expect(await views().problems()).toEqual([]);
  });

  test('escapes its values', async () => {
    await write('own/page.eta', '<p title="<%= it.text %>"><%= it.text %></p>');
    const html = await views().render('page', { text: `<b a="1" c='2'>&` });
    expect(html).toBe(
      '<p title="&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;">&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;</p>',
    );
  });

  test.each<[what: string, line: number, reason: string, text: string]>([
    ['a member of an undefined value', 2, 'reading', '<p>\n<%= it.nothing.here %>\n</p>'],
    ['code on the line after its tag', 3, 'reading', '<p>\n<%=\n  it.nothing.here %>\n</p>'],
    ['an unfinished tag', 2, 'unclosed tag', '<p>\n<%= it.name\n</p>'],
    ['an unfinished string', 2, 'unclosed string', "<p>\n<%= 'name %>\n</p>"],
    [
      'a block that is never closed',
      2,
      "'{' is never closed",
      '<p>\n<% if (it.a) { %>\n</p>\n<%= 1 %>\n\n',
    ],
    [
      'a call that is never closed',
      3,
      "'(' is never closed",
      '<% if (it.a) { %>\n<p>\n<%= f(it.name %></p><% } %>',
    ],
    ['a block closed twice', 3, "'}' closes nothing", '<% if (it.a) { %>\n<% } %>\n<% } %>\n<p>'],
    [
      'a wrong bracket',
      2,
      "'}' closes the '(' of line 1",
      '<% it.a.forEach((a) => { %>\n<% }} %>\n\n',
    ],
    [
      'a wrong word',
      4,
      'Unexpected identifier',
      '<p>\n<% const a = 1;\n const b = "{";\n if a b; %>\n<p>',
    ],
    [
      'a wrong word after brackets in quotes and comments',
      6,
      'Unexpected identifier',
      '<p>\n<% const a = \'{\\\'(\';\n const b = "[\\""; /* (\n*/ const c = `{\\`\n`; // (\n if a b; %>',
    ],
    ['an index that is never closed', 1, "'[' is never closed", '<%= it.a[0 %>\n<p>\n<% } %>'],
    ['a bracket that only closes', 2, "')' closes nothing", '<% if (it.a) { %>\n<%= 1) %><% } %>'],
    [
      'an unfinished tag far below',
      12,
      'unclosed tag',
      `${'\n'.repeat(11)}${' '.repeat(12)}<%= it.name`,
    ],
    ['a wrong word far below', 12, 'Unexpected identifier', `${'\n'.repeat(11)}<% if a b %>`],
    ['a wrong word before other tags', 1, 'Unexpected identifier', '<% if a b %>\n<p>\n<%= 1 %>'],
    ['a bracket after a long comment', 3, "'{' is never closed", '<% /*\n\n*/ if (it.a) { %>\n'],
    ['a bracket before other lines', 2, "'{' is never closed", '<%\n if (it.a) {\n it.f()\n %>'],
    ['code that is also text', 3, 'nothing', 'xxnothing\n\n<%=nothing%>'],
    ['code that is also text, just before it', 2, 'x is not', 'x\n<%=x%>'],
    ['a text that it throws', 2, 'out of milk', '<p>\n<% throw "out of milk" %>\n</p>'],
  ])('with %s causes an error with the file and the line %i', async (_, line, reason, text) => {
    await write('own/page.eta', '<% layout("frame") %>');
    await write('own/frame.eta', text);
    const file = path.join(folder, 'own', 'frame.eta');
    const error: unknown = await views()
      .render('page', {})
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ViewError);
    expect(error).toMatchObject({ file, line, reason: expect.stringContaining(reason) as string });
    expect(String(error)).toMatch(`ViewError: ${file}:${line}: `);
    const unshown = ['reading', 'out of milk', 'nothing', 'x is not'].includes(reason)
      ? []
      : [error];
    expect((await views().problems()).map(String)).toEqual(unshown.map(String));
  });

  test('has no error if it waits for another view', async () => {
    await write('own/page.eta', "<%~ await includeAsync('part', it) %>");
    await write('own/part.eta', 'a part');
    expect(await views().problems()).toEqual([]);
    expect(await views().render('page', {})).toBe('a part');
  });

  test('causes an error without a line if the line is unknown', () => {
    const cause = new Error('of the engine');
    const eta = new Eta();
    eta.compile = () => {
      throw cause;
    };
    locateErrors(eta);
    for (const [options, file] of [
      [{ filepath: '/views/page.eta' }, '/views/page.eta'],
      [undefined, ''],
    ] as const) {
      const compile = () => eta.compile('<%= it.name %>', options);
      expect(compile).toThrow(`${file}: of the engine`);
      expect(compile).toThrow(expect.objectContaining({ file, line: null, cause }) as Error);
    }
  });

  test('names the file and line of an included view that fails', async () => {
    await write('own/page.eta', "<p>\n\n<%~ await includeAsync('part', it) %>");
    await write('own/part.eta', '<p>\n<%= it.nothing.here %>');
    await expect(views().render('page', {})).rejects.toMatchObject({
      file: path.join(folder, 'own', 'part.eta'),
      line: 2,
      cause: expect.any(TypeError) as Error,
    });
  });

  test('names the line of the code that failed, even if another line has the same code', async () => {
    await write('own/page.eta', '<%= it.f() %>\n<%= it.f() %> <%= it.f() %>\n<%= it.f() %>');
    let calls = 0;
    const f = () => {
      calls += 1;
      if (calls === 4) throw new Error('the fourth call');
      return calls;
    };
    const failure = { line: 3, reason: 'the fourth call' };
    await expect(views().render('page', { f })).rejects.toMatchObject(failure);
  });

  test.each(['../secret', '/etc/passwd', 'a/../b', 'a//b', ''])(
    'with the name %j is refused',
    async (name) => {
      await expect(views().render(name, {})).rejects.toThrow('view name');
    },
  );

  test('that is missing causes an error with the searched folders', async () => {
    await expect(views().render('missing', {})).rejects.toThrow(
      /no view 'missing' in .*own or .*plugin/,
    );
  });
});

// @engines sqlite: it only reads files
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { ROOT } from './support/console.ts';
import { alertRules, dashboardExpressions, OPERATE, usedMetrics } from './support/operate.ts';

const RULES = alertRules();
const operating = readFileSync(path.join(ROOT, 'docs', 'operating.md'), 'utf8');

describe('each alert of examples/operate', () => {
  test.each(RULES)('$name links to its section in docs/operating.md', ({ name, runbook }) => {
    expect(runbook).toBe(`docs/operating.md#${name.toLowerCase()}`);
    expect(operating).toContain(`\n### ${name}\n`);
  });

  test.each(RULES)('$name fires in its promtool test', ({ name }) => {
    const tests = readFileSync(path.join(OPERATE, 'alerts.test.yml'), 'utf8');
    expect(tests).toMatch(new RegExp(`alertname="${name}"`));
  });

  test.each(RULES)('$name uses data that the dashboard shows', ({ name, expression }) => {
    const shown = new Set(
      dashboardExpressions().flatMap((panel) =>
        usedMetrics(panel.expression).map(({ metric }) => metric),
      ),
    );
    const asked = usedMetrics(expression).map(({ metric }) => metric);
    expect(asked).not.toEqual([]);
    expect([name, ...asked.filter((metric) => metric !== 'up' && !shown.has(metric))]).toEqual([
      name,
    ]);
  });

  test('has a section, and every section has an alert', () => {
    const sections = [...operating.matchAll(/^### (Portico\w+)$/gm)].map(([, name = '']) => name);
    expect(sections.toSorted()).toEqual(RULES.map(({ name }) => name).toSorted());
  });
});

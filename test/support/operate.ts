import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from './console.ts';

/** The parts of Portico's metrics that examples/operate uses. */
export const OPERATE = path.join(ROOT, 'examples', 'operate');
const read = (file: string) => readFileSync(path.join(OPERATE, file), 'utf8');

export interface AlertRule {
  readonly name: string;
  readonly expression: string;
  readonly runbook: string;
}

/** Returns the rules in alerts.yml. The file is simple enough for this reader. */
export function alertRules(): readonly AlertRule[] {
  return read('alerts.yml')
    .split(/^ {6}- alert: /m)
    .slice(1)
    .map((rule) => {
      const [, block, line] = /^ {8}expr: (?:\|\n((?: {10,}.*\n)+)|(.+)\n)/m.exec(rule) ?? [];
      return {
        name: rule.split('\n', 1)[0] ?? '',
        expression: (block ?? line ?? '').replaceAll(/\s+/g, ' ').trim(),
        runbook: /runbook_url: (\S+)/.exec(rule)?.[1] ?? '',
      };
    });
}

interface Panel {
  readonly title: string;
  readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[];
}

export interface Shown {
  /** The title of the panel. */
  readonly title: string;
  readonly expression: string;
  /** The labels that the legend shows. */
  readonly legend: readonly string[];
}

/** Returns the expressions of the dashboard, for all processes. */
export function dashboardExpressions(): readonly Shown[] {
  const { panels } = JSON.parse(read('dashboard.json')) as { readonly panels: readonly Panel[] };
  return panels.flatMap(({ title, targets }) =>
    targets.map(({ expr, legendFormat }) => ({
      title,
      expression: expr.replaceAll('$__rate_interval', '5m').replaceAll('$instance', '.*'),
      legend: [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label),
    })),
  );
}

/** A metric, and the labels by which an expression selects or groups it. */
export interface UsedMetric {
  readonly metric: string;
  readonly labels: readonly string[];
}

const METRIC = /\b((?:http_server|portico|db_client)_\w+|up)(?:\{([^}]*)\})?/g;
/** The labels that Prometheus adds. */
const OF_PROMETHEUS: ReadonlySet<string> = new Set(['job', 'instance', 'le']);

/**
 * Returns the metrics in an expression. Each of them must have every label that the expression
 * groups by: the expressions here have one metric, or several metrics with the same labels.
 */
export function usedMetrics(expression: string): readonly UsedMetric[] {
  const grouped = [...expression.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, names = '']) =>
    names.split(/,\s*/),
  );
  return [...expression.matchAll(METRIC)]
    .filter(([name]) => !grouped.includes(name))
    .map(([, metric = '', matchers = '']) => {
      const picked = [...matchers.matchAll(/(\w+)\s*(?:=~?|!=|!~)/g)].map(
        ([, label = '']) => label,
      );
      const labels = new Set([...picked, ...grouped].filter((label) => !OF_PROMETHEUS.has(label)));
      return { metric, labels: [...labels].toSorted() };
    });
}

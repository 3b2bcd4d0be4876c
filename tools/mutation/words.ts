// Tells Stryker not to mutate sentences.
import { declareValuePlugin, PluginKind } from '@stryker-mutator/api/plugin';

const SQL =
  /\b(SELECT|INSERT|UPDATE|DELETE|WHERE|FROM|AND|OR|SET|ORDER|LIMIT|JOIN|VALUES|CREATE|ALTER|IN|NOT|NULL)\b/;

const words = {
  shouldIgnore(path: {
    node: { type: string; value?: unknown; quasis?: { value: { raw: string } }[] };
  }): string | undefined {
    const { node } = path;
    const text =
      node.type === 'StringLiteral'
        ? String(node.value)
        : node.type === 'TemplateLiteral'
          ? (node.quasis ?? []).map(({ value }) => value.raw).join('x')
          : '';
    return /[A-Za-z},.] [A-Za-z{$(]/.test(text) && !SQL.test(text)
      ? 'a sentence for a person'
      : undefined;
  },
};

export const strykerPlugins = [declareValuePlugin(PluginKind.Ignore, 'words', words as never)];

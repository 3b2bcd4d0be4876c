import { ProtocolErrorCode, type JSONRPCRequest } from '@modelcontextprotocol/server';
import type { McpConfig } from './config.ts';
import type { McpContext } from './context.ts';
import type {
  ContributedMethod,
  GuardedUse,
  McpContribution,
  McpFeature,
  MethodAnswer,
  Named,
} from './feature.ts';
import { readParameters } from './protocol/parameters.ts';
import { callRefusal } from './tools/tool-access.ts';
import type { Caller } from './tools/tool-call.ts';
import type { RegisteredTool } from './tools/tools.ts';

/** Combines what all features add to one endpoint. */
export class Contributions {
  readonly #config: McpConfig;
  readonly #contributions: ReadonlyMap<string, McpContribution>;

  constructor(context: McpContext, features: readonly McpFeature[]) {
    this.#config = context.config;
    this.#contributions = new Map(features.map((each) => [each.name, each.start(context)]));
  }

  /** The registries of the features, by feature name. */
  get registries(): ReadonlyMap<string, object> {
    const found = [...this.#contributions].flatMap(([name, { registry }]) =>
      registry === undefined ? [] : [[name, registry] as const],
    );
    return new Map(found);
  }

  /** The capabilities that the endpoint announces to clients. */
  get capabilities(): Readonly<Record<string, object>> {
    const offered = this.#offered();
    const added = offered.flatMap(({ capabilities = {} }) => Object.entries(capabilities));
    const extensions = offered.flatMap((each) => Object.entries(each.extensions ?? {}));
    return {
      tools: {},
      ...Object.fromEntries(added),
      ...(extensions.length === 0 ? {} : { extensions: Object.fromEntries(extensions) }),
    };
  }

  /** Returns everything that the features guard, such as resources. Does not include tools. */
  guarded(): readonly Named[] {
    return [...this.#contributions.values()].flatMap((each) => each.guarded?.() ?? []);
  }

  /** Returns the members that features add to a tool's entry in `tools/list`. */
  toolMembers(tool: RegisteredTool, version: string): Readonly<Record<string, unknown>> {
    const added = this.#offered().map((each) => each.toolMembers?.(tool, version) ?? {});
    return Object.assign({}, ...added) as Readonly<Record<string, unknown>>;
  }

  /**
   * Returns `_meta` for a tool error that answers a rejected call. Returns null if the answer must
   * be a 401 or 403 response instead.
   */
  refusedCallMeta(challenge: string): Readonly<Record<string, unknown>> | null {
    const added = this.#offered().flatMap((each) => each.refusedCallMeta?.(challenge) ?? []);
    return added.length === 0
      ? null
      : (Object.assign({}, ...added) as Readonly<Record<string, unknown>>);
  }

  /**
   * Returns the guarded items of features that these requests use, such as resources. Does not
   * include tools.
   */
  usedBy(requests: readonly JSONRPCRequest[]): readonly GuardedUse[] {
    return requests.flatMap(({ method, params }) => this.#method(method)?.uses?.(params) ?? []);
  }

  /** Whether a feature offers this method at the moment. */
  has(method: string): boolean {
    return this.#method(method) !== null;
  }

  /**
   * Answers a request with the feature that has its method. Returns null if no feature has it.
   * Checks the token once more, so that no guarded item is ever used without a check.
   */
  async answer(request: JSONRPCRequest, caller: Caller): Promise<MethodAnswer | null> {
    const method = this.#method(request.method);
    if (method === null) return null;
    const read = readParameters(method.type, request);
    if ('error' in read) return read;
    const use = method.uses?.(request.params) ?? null;
    const refused = use === null ? null : callRefusal(this.#config, use.used, use.refusals);
    if (refused === null) return method.answer(request.params, caller);
    return { error: { code: ProtocolErrorCode.InvalidRequest, message: refused.message } };
  }

  #method(name: string): ContributedMethod | null {
    const found = this.#offered().find(({ methods }) => Object.hasOwn(methods ?? {}, name));
    return found?.methods?.[name] ?? null;
  }

  #offered(): readonly McpContribution[] {
    return [...this.#contributions.values()].filter((each) => each.isOffered());
  }
}

/** The models the user can choose, from the settings, and the one behind each id. */
import type { ChatModel } from './chatModel.ts';
import { makeOfflineGuide, offlineGuideId, offlineGuideName } from './offlineGuide.ts';
import { makeOpenAiCompatibleModel } from './openAiCompatible.ts';
import { parseProviders, type ProviderSettings } from './providerSettings.ts';

/** Milliseconds; a local server may load a model for minutes before it sends its first byte. */
export const defaultIdleTimeoutMs = 180_000;

interface CatalogChoice {
  readonly id: string;
  readonly name: string;
  /** Where it runs, in a few words. */
  readonly detail: string;
}

export interface CatalogOptions {
  /** The value of `holdfast.providers`, not checked yet. */
  readonly providers: unknown;
  /** The stored key of that name, null when there is none. */
  readonly apiKey: (apiKeyName: string) => Promise<string | null>;
  readonly fetch?: typeof globalThis.fetch;
  /** Milliseconds. */
  readonly idleTimeoutMs?: number;
  /** Milliseconds between two pieces of the offline guide's answers. */
  readonly guidePaceMs?: number;
}

export interface ModelCatalog {
  /** Never empty: without a usable provider it holds the offline guide alone, else that comes last. */
  readonly choices: readonly CatalogChoice[];
  /** Providers as read, for the command that stores keys. */
  readonly providers: readonly ProviderSettings[];
  /** Sentences about entries that could not be used. */
  readonly problems: readonly string[];
  /** Null when no configured model has this id (any more). */
  model(id: string): ChatModel | null;
}

export function makeModelCatalog(options: CatalogOptions): ModelCatalog {
  const { providers, problems } = parseProviders(options.providers);
  const models = new Map<string, ChatModel>();
  const choices: CatalogChoice[] = [];
  for (const provider of providers) {
    for (const model of provider.models) {
      const id = `${provider.id}/${model.id}`;
      choices.push({ id, name: model.name, detail: provider.name });
      models.set(id, makeModel(id, model, provider, options));
    }
  }
  choices.push({
    id: offlineGuideId,
    name: offlineGuideName,
    detail: 'Searches this workspace; no model needed',
  });
  const pace = options.guidePaceMs === undefined ? {} : { paceMs: options.guidePaceMs };
  models.set(offlineGuideId, makeOfflineGuide(pace));
  return { choices, providers, problems, model: (id) => models.get(id) ?? null };
}

function makeModel(
  id: string,
  model: ProviderSettings['models'][number],
  provider: ProviderSettings,
  options: CatalogOptions,
): ChatModel {
  return makeOpenAiCompatibleModel({
    id,
    name: model.name,
    providerName: provider.name,
    baseUrl: provider.baseUrl,
    modelId: model.id,
    apiKey: () => options.apiKey(provider.apiKeyName),
    idleTimeoutMs: options.idleTimeoutMs ?? defaultIdleTimeoutMs,
    ...(options.fetch === undefined ? {} : { fetch: options.fetch }),
  });
}

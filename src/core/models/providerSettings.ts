/** The setting `holdfast.providers`, written by hand: one bad entry must not cost the others, and says what is wrong. */
import * as v from 'valibot';

export interface ProviderSettings {
  /** First part of its models' ids: from `id`, else made of the name. */
  readonly id: string;
  readonly name: string;
  /** Without a slash at its end. */
  readonly baseUrl: string;
  readonly models: readonly { readonly id: string; readonly name: string }[];
  /** Under which name the key is stored. */
  readonly apiKeyName: string;
}

export interface ParsedProviders {
  readonly providers: readonly ProviderSettings[];
  /** Sentences for the user, each naming an entry and what to write instead. */
  readonly problems: readonly string[];
}

const example = '{ "name": "Ollama", "baseUrl": "http://127.0.0.1:11434/v1", "models": ["qwen3"] }';

const filled = (what: string) =>
  v.pipe(v.string(`${what} must be a text`), v.trim(), v.nonEmpty(`${what} is empty`));

export const baseUrlSchema = v.pipe(
  v.string('baseUrl is missing; write for example "http://127.0.0.1:11434/v1"'),
  v.trim(),
  v.check(
    (text) => /^https?:\/\/./i.test(text) && URL.canParse(text),
    'baseUrl is not an address; write for example "https://api.openai.com/v1"',
  ),
  v.check(
    (text) => !URL.canParse(text) || (new URL(text).username === '' && new URL(text).password === ''),
    'baseUrl holds a user name or password; store the key with the command "Holdfast: Set API Key" instead',
  ),
  // Documentation shows the whole address of the request, so people copy that.
  v.transform((text) => text.replace(/\/+$/, '').replace(/\/chat\/completions$/i, '')),
);

const modelsMessage = 'models must be a list of names; write for example ["gpt-5-mini"]';
const model = v.union(
  [
    v.pipe(
      filled('a model'),
      v.transform((id) => ({ id, name: id })),
    ),
    v.pipe(
      v.object({ id: filled('the id of a model'), name: v.optional(filled('the name of a model')) }),
      v.transform(({ id, name }) => ({ id, name: name ?? id })),
    ),
  ],
  modelsMessage,
);

const entrySchema = v.object(
  {
    id: v.optional(
      v.pipe(
        v.string('id must be a text'),
        v.regex(/^[\w.-]+$/, 'id may hold letters, digits, dots, dashes and underscores only'),
      ),
    ),
    name: v.pipe(
      v.string('name is missing; write what the model picker shall show, for example "Ollama"'),
      v.trim(),
      v.nonEmpty('name is empty; write what the model picker shall show, for example "Ollama"'),
    ),
    baseUrl: baseUrlSchema,
    models: v.pipe(v.array(model, modelsMessage), v.minLength(1, modelsMessage)),
    apiKeyName: v.optional(filled('apiKeyName')),
  },
  // For a key that is absent valibot asks the object, naming the key as what it expected.
  (issue) =>
    issue.expected?.startsWith('"') === true
      ? `${issue.expected.slice(1, -1)} is missing; write for example ${example}`
      : `it must be an object; write for example ${example}`,
);

/** `setting`: whatever stands in the settings file. */
export function parseProviders(setting: unknown): ParsedProviders {
  if (setting === undefined || setting === null) return { providers: [], problems: [] };
  if (!Array.isArray(setting)) {
    return {
      providers: [],
      problems: [`The setting holdfast.providers must be a list; write for example [${example}].`],
    };
  }
  const providers: ProviderSettings[] = [];
  const problems: string[] = [];
  for (const [index, entry] of setting.entries()) {
    const parsed = v.safeParse(entrySchema, entry);
    if (!parsed.success) {
      const causes = [...new Set(parsed.issues.map((issue) => issue.message))].join(', and ');
      problems.push(`The setting holdfast.providers, ${describeEntry(entry, index)}: ${causes}.`);
      continue;
    }
    const { name, models, apiKeyName, ...rest } = parsed.output;
    const id = rest.id ?? slug(name);
    if (id === 'offline' || providers.some((other) => other.id === id)) {
      problems.push(
        `The setting holdfast.providers, ${describeEntry(entry, index)}: the id "${id}" is taken; give it an "id" of its own.`,
      );
      continue;
    }
    providers.push({
      id,
      name,
      baseUrl: rest.baseUrl,
      models: distinct(models),
      apiKeyName: apiKeyName ?? id,
    });
  }
  return { providers, problems };
}

function describeEntry(entry: unknown, index: number): string {
  const named = v.safeParse(v.object({ name: v.pipe(v.string(), v.trim(), v.nonEmpty()) }), entry);
  const position = `entry ${index + 1}`;
  return named.success ? `${position} ("${named.output.name}")` : position;
}

function slug(name: string): string {
  const plain = name
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-+|-+$/g, '');
  return plain === '' ? 'provider' : plain;
}

function distinct<Model extends { readonly id: string }>(models: readonly Model[]): Model[] {
  return models.filter((model, index) => models.findIndex((other) => other.id === model.id) === index);
}

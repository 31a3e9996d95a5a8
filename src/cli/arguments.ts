/** What was asked for on the command line, parsed and checked before anything is opened. */
import { parseArgs, type ParseArgsConfig } from 'node:util';
import * as v from 'valibot';
import { baseUrlSchema } from '../core/models/providerSettings.ts';

interface Common {
  /** The store's folder. */
  readonly folder: string;
  /** JSON on stdout instead of text for people. */
  readonly json: boolean;
}

export type Command = Common &
  (
    | {
        readonly verb: 'append';
        readonly sessionId: string;
        /** Of a chat that is made by this; null: none was given. */
        readonly title: string | null;
        /** How many appends may be in flight. */
        readonly window: number;
      }
    | {
        readonly verb: 'ask';
        readonly text: string;
        /** Null: a new chat. */
        readonly sessionId: string | null;
        /** Null: the offline guide answers. */
        readonly endpoint: {
          readonly baseUrl: string;
          readonly model: string;
          /** Name of the environment variable that holds the key; null: the endpoint needs none. */
          readonly apiKeyEnv: string | null;
        } | null;
      }
    | { readonly verb: 'list'; readonly which: 'open' | 'archived' | 'all' }
    | { readonly verb: 'show' | 'archive' | 'reopen'; readonly sessionId: string }
    | { readonly verb: 'verify' }
    | {
        readonly verb: 'export';
        /** Null: all chats. */
        readonly sessionId: string | null;
        readonly format: 'md' | 'json';
      }
    | { readonly verb: 'backup' | 'restore' | 'salvage'; readonly path: string }
  );

export const usage = `Usage: holdfast VERB --store DIR [--json]

  list [--archived | --all]          the chats, latest activity first
  show ID                            one chat with its messages
  append --session ID [--title T] [--window N]
                                     adds messages: JSON lines {"id","role","text"} from standard input;
                                     prints each id once it is on disk. N appends at most are in flight (1)
  ask TEXT [--session ID] [--base-url U --model M [--api-key-env V]]
                                     asks in a new chat, or in chat ID, and streams the answer; the chat's id goes to
                                     standard error. U: an OpenAI-compatible endpoint, V: the environment variable
                                     with its key. Without U the offline guide answers. Tools read the current folder
  archive ID                         ends a chat; reopen ID opens it again
  verify                             checks every file, change and reference; changes nothing
  export (ID | --all) --format md|json
                                     one chat, or all of them, to standard output
  backup FILE                        saves all chats to a new file, and reads it back
  restore FILE                       brings in what a backup holds and the store lacks; overwrites nothing
  salvage NEWDIR                     reads what can be read of a damaged DIR into the new folder NEWDIR

DIR is the folder that the command "Holdfast: Show Storage" names. It may be in use by running windows.
Exit codes: 0 done · 1 failed, found a fault, or something could not be read · 2 wrong usage or input · 3 no chat with that id
            130 the answer was interrupted; its text so far is kept
`;

/** The command line makes no sense. */
export class UsageError extends Error {
  readonly reason = 'usage';

  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
}

const common = { store: { type: 'string' }, json: { type: 'boolean', default: false } } as const;

/** Null: help was asked for. Throws UsageError. */
export function parseCommand(words: readonly string[]): Command | null {
  if (words.some((word) => word === '--help' || word === '-h')) return null;
  const [verb, ...rest] = words;
  switch (verb) {
    case 'append':
      return parseAppend(rest);
    case 'ask':
      return parseAsk(rest);
    case 'list':
      return parseList(rest);
    case 'show':
    case 'archive':
    case 'reopen': {
      const { values, positionals } = parse(rest, common);
      const [sessionId, ...others] = positionals;
      if (sessionId === undefined || others.length > 0)
        throw new UsageError(`${verb} needs the id of one chat.`);
      return { verb, sessionId, ...commonOf(values) };
    }
    case 'export':
      return parseExport(rest);
    case 'backup':
    case 'restore':
    case 'salvage': {
      const { values, positionals } = parse(rest, common);
      const [path, ...others] = positionals;
      if (path === undefined || path === '' || others.length > 0) {
        throw new UsageError(`${verb} needs the name of one ${verb === 'salvage' ? 'folder' : 'file'}.`);
      }
      return { verb, path, ...commonOf(values) };
    }
    case 'verify': {
      const { values, positionals } = parse(rest, common);
      refuseWords(positionals);
      return { verb, ...commonOf(values) };
    }
    case undefined:
      throw new UsageError('Say what to do.');
    default:
      throw new UsageError(`There is no verb "${verb}".`);
  }
}

function parseAppend(words: string[]): Command {
  const { values, positionals } = parse(words, {
    ...common,
    session: { type: 'string' },
    title: { type: 'string' },
    window: { type: 'string', default: '1' },
  } as const);
  refuseWords(positionals);
  if (values.session === undefined || values.session === '')
    throw new UsageError('append needs --session ID.');
  if (!/^[1-9]\d{0,5}$/.test(values.window)) throw new UsageError('--window needs a whole number from 1 on.');
  return {
    verb: 'append',
    sessionId: values.session,
    title: values.title ?? null,
    window: Number(values.window),
    ...commonOf(values),
  };
}

function parseAsk(words: string[]): Command {
  const { values, positionals } = parse(words, {
    ...common,
    session: { type: 'string' },
    'base-url': { type: 'string' },
    model: { type: 'string' },
    'api-key-env': { type: 'string' },
  } as const);
  const [text, ...others] = positionals;
  if (text === undefined || text.trim() === '' || others.length > 0) {
    throw new UsageError('ask needs the prompt as one word: put it in quotes.');
  }
  if (values.session === '') throw new UsageError('--session needs the id of a chat.');
  const { model, 'base-url': baseUrl, 'api-key-env': apiKeyEnv } = values;
  return {
    verb: 'ask',
    text,
    sessionId: values.session ?? null,
    endpoint: parseEndpoint(baseUrl, model, apiKeyEnv),
    ...commonOf(values),
  };
}

function parseEndpoint(
  baseUrl: string | undefined,
  model: string | undefined,
  apiKeyEnv: string | undefined,
): Extract<Command, { verb: 'ask' }>['endpoint'] {
  if (baseUrl === undefined && model === undefined && apiKeyEnv === undefined) return null;
  if (baseUrl === undefined) throw new UsageError('--model and --api-key-env need --base-url.');
  if (model === undefined || model === '') throw new UsageError('--base-url needs --model.');
  const parsed = v.safeParse(baseUrlSchema, baseUrl);
  if (!parsed.success) {
    throw new UsageError(
      '--base-url needs an address without user name and password, for example http://127.0.0.1:11434/v1.',
    );
  }
  return { baseUrl: parsed.output, model, apiKeyEnv: apiKeyEnv ?? null };
}

function parseList(words: string[]): Command {
  const { values, positionals } = parse(words, {
    ...common,
    archived: { type: 'boolean', default: false },
    all: { type: 'boolean', default: false },
  } as const);
  refuseWords(positionals);
  if (values.archived && values.all) throw new UsageError('Give --archived or --all, not both.');
  const which = values.all ? 'all' : values.archived ? 'archived' : 'open';
  return { verb: 'list', which, ...commonOf(values) };
}

function parseExport(words: string[]): Command {
  const { values, positionals } = parse(words, {
    ...common,
    all: { type: 'boolean', default: false },
    format: { type: 'string' },
  } as const);
  const [sessionId, ...others] = positionals;
  if (others.length > 0 || (sessionId === undefined) !== values.all) {
    throw new UsageError('export needs the id of one chat, or --all.');
  }
  const { format } = values;
  if (format !== 'md' && format !== 'json')
    throw new UsageError('export needs --format md or --format json.');
  return { verb: 'export', sessionId: sessionId ?? null, format, ...commonOf(values) };
}

function parse<const Options extends NonNullable<ParseArgsConfig['options']>>(
  words: string[],
  options: Options,
) {
  try {
    return parseArgs({ args: words, options, allowPositionals: true, strict: true });
  } catch (error) {
    if (error instanceof TypeError && 'code' in error) throw new UsageError(error.message);
    throw error;
  }
}

function refuseWords(words: readonly string[]): void {
  if (words.length > 0) throw new UsageError(`"${words.join(' ')}" is one word too many.`);
}

function commonOf(values: { readonly store?: string | undefined; readonly json: boolean }): Common {
  if (values.store === undefined || values.store === '')
    throw new UsageError('Say where the chats are: --store DIR.');
  return { folder: values.store, json: values.json };
}

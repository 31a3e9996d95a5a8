/**
 * From what a server or the network says to a `ModelError`. This is the boundary to foreign texts: the only place where
 * a message is looked into, because many servers give no code. Nothing here may carry the API key.
 */
import * as v from 'valibot';
import { ModelError } from './chatModel.ts';

/** What error sentences name. */
export interface Endpoint {
  /** The provider's name, as the user wrote it. */
  readonly name: string;
  /** Without credentials and query. */
  readonly address: string;
  readonly modelId: string;
  readonly hasKey: boolean;
  /** Blanks out the key, should a server echo it. */
  readonly redact: (text: string) => string;
}

export interface ProviderFault {
  readonly message: string;
  readonly code: string;
  readonly type: string;
}

const word = v.fallback(
  v.pipe(
    v.union([v.string(), v.number()]),
    v.transform((value) => String(value)),
  ),
  '',
);
const faultSchema = v.object({
  message: word,
  msg: word,
  detail: word,
  code: word,
  type: word,
  error_type: word,
});

/**
 * The fault a body or a frame reports, or null when it reports none: `{"error":{…}}`, `{"error":"…"}`,
 * `{"choices":null,"error_type":…}`, `{"detail":"…"}`, `{"object":"error",…}`.
 */
export function readFault(value: unknown): ProviderFault | null {
  const outer = v.safeParse(
    v.looseObject({ error: v.optional(v.unknown()), choices: v.optional(v.unknown()) }),
    value,
  );
  if (!outer.success) return null;
  const { error, choices } = outer.output;
  if (typeof error === 'string' && error !== '') return { ...readFields(value), message: error };
  if (typeof error === 'object' && error !== null) return readFields(error);
  const fields = readFields(value);
  const isError = outer.output['object'] === 'error' || fields.type === 'error' || hasErrorType(value);
  const isNoAnswer = !Array.isArray(choices) && fields.message !== '';
  return isError || isNoAnswer ? fields : null;
}

function hasErrorType(value: unknown): boolean {
  const parsed = v.safeParse(faultSchema, value);
  return parsed.success && parsed.output.error_type !== '';
}

function readFields(value: unknown): ProviderFault {
  const parsed = v.safeParse(faultSchema, value);
  if (!parsed.success) return { message: '', code: '', type: '' };
  const { message, msg, detail, code, type, error_type: errorType } = parsed.output;
  return { message: message || msg || detail, code, type: type || errorType };
}

const contextCodes = new Set([
  'context_length_exceeded',
  'context_window_exceeded',
  'exceed_context_size_error',
  'model_context_window_exceeded',
  'string_above_max_length',
  'request_too_large',
]);
/** vLLM, SGLang, LM Studio and several gateways give only words. */
const contextWords =
  /(?:maximum|max|exceeds?|exceeded)[^.]{0,60}context (?:length|window|size)|context (?:length|window|size)[^.]{0,60}exceed|prompt is too long|too many tokens|input is too long/i;
const keyCodes = new Set([
  'invalid_api_key',
  'authentication_error',
  'invalid_authentication',
  'permission_error',
]);
const rateCodes = new Set([
  'rate_limit_exceeded',
  'rate_limit_error',
  'rate_limited',
  'too_many_requests',
  '429',
]);
const quotaCodes = new Set([
  'insufficient_quota',
  'billing_hard_limit_reached',
  'insufficient_balance',
  '402',
]);

/** `status`: of the response, 200 for a fault inside a stream. */
export function faultError(
  endpoint: Endpoint,
  status: number,
  fault: ProviderFault,
  retryAfterMs: number | null = null,
): ModelError {
  const { name, address, modelId } = endpoint;
  const labels = [fault.code, fault.type].map((label) => label.toLowerCase());
  const is = (codes: ReadonlySet<string>): boolean => labels.some((label) => codes.has(label));
  const said = quote(endpoint, fault.message);
  const wait = retryAfterMs === null ? {} : { retryAfterMs };

  if (is(contextCodes) || status === 413 || contextWords.test(fault.message)) {
    return new ModelError(
      'context_full',
      `The chat has become too long for ${modelId} at ${name}${said}. Start a new chat, or choose a model with a larger context.`,
    );
  }
  if (is(quotaCodes) || status === 402) {
    return new ModelError(
      'provider',
      `The quota of your account at ${name} is used up${said}. Add credit there, or choose another model.`,
    );
  }
  if (status === 401 || status === 403 || is(keyCodes)) {
    return new ModelError('authentication', authenticationSentence(endpoint, status, said));
  }
  if (status === 429 || is(rateCodes)) {
    const how =
      retryAfterMs === null ? 'Wait a little' : `Wait ${Math.max(1, Math.ceil(retryAfterMs / 1000))} seconds`;
    return new ModelError(
      'rate_limited',
      `${name} is limiting requests${said}. ${how}, then press Retry.`,
      wait,
    );
  }
  if (status === 404) {
    return new ModelError(
      'provider',
      `${name} does not know the model ${modelId}, or ${address} is not its address${said}. Correct baseUrl or models in the setting holdfast.providers.`,
    );
  }
  const shown = status === 200 ? '' : ` (status ${status})`;
  return new ModelError(
    'provider',
    `${name} at ${address} reported an error${shown}${said}. Press Retry.`,
    wait,
  );
}

function authenticationSentence(endpoint: Endpoint, status: number, said: string): string {
  const { name, address, hasKey } = endpoint;
  const shown = status === 200 ? '' : ` (status ${status})`;
  return hasKey
    ? `${name} at ${address} did not accept the API key${shown}${said}. Store another one with the command "Holdfast: Set API Key".`
    : `${name} at ${address} wants an API key and none is stored${shown}. Store one with the command "Holdfast: Set API Key".`;
}

/** An error response whose body was read as text. `now`: Unix time in milliseconds, for dates in Retry-After. */
export function responseError(
  endpoint: Endpoint,
  status: number,
  bodyText: string,
  retryAfter: string | null,
  now: number,
): ModelError {
  return faultError(endpoint, status, readBodyFault(bodyText), parseRetryAfter(retryAfter, now));
}

function readBodyFault(bodyText: string): ProviderFault {
  const empty = { message: '', code: '', type: '' };
  try {
    const parsed: unknown = JSON.parse(bodyText);
    // Google's gateway wraps the object in an array.
    return readFault(Array.isArray(parsed) ? parsed[0] : parsed) ?? empty;
  } catch {
    // Not JSON: a sentence of a proxy, or a page nobody wants to read in a chat.
    return bodyText.trimStart().startsWith('<') ? empty : { ...empty, message: bodyText };
  }
}

/** Seconds or an HTTP date, in milliseconds from now; null when absent or unreadable. */
export function parseRetryAfter(header: string | null, now: number): number | null {
  if (header === null || header.trim() === '') return null;
  const seconds = Number(header);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
  const date = Date.parse(header);
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}

/** What the server said, in quotation marks behind a colon; empty when it said nothing. */
function quote(endpoint: Endpoint, message: string): string {
  const line = endpoint.redact(message).replace(/\s+/g, ' ').trim().replace(/\.$/, '');
  if (line === '') return '';
  return `: "${line.length > 300 ? `${line.slice(0, 299)}…` : line}"`;
}

/** Failures of the connection itself, in words that name the endpoint and the way out. */
import { ModelError } from './chatModel.ts';
import type { Endpoint } from './providerErrors.ts';

/** A request that got no response. */
export function connectionError(endpoint: Endpoint, error: unknown): ModelError {
  const { name, address } = endpoint;
  const code = networkCode(error);
  if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT')
    return stalledError(endpoint, null);
  return new ModelError(
    'unreachable',
    `${describe(code, name, address)} Your prompt is kept; press Retry then.`,
  );
}

function describe(code: string, name: string, address: string): string {
  switch (code) {
    case 'ECONNREFUSED':
      return `Nothing answers at ${address} (${name}). Start the server there, or correct baseUrl in the setting holdfast.providers.`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `The host of ${address} (${name}) was not found. Check the network connection, or correct baseUrl in the setting holdfast.providers.`;
    case 'ECONNRESET':
    case 'UND_ERR_SOCKET':
    case 'EPIPE':
      return `${name} at ${address} closed the connection before it answered.`;
    case 'ETIMEDOUT':
    case 'UND_ERR_CONNECT_TIMEOUT':
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return `${address} (${name}) cannot be reached from here. Check the network connection or the proxy.`;
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'CERT_HAS_EXPIRED':
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return `The certificate of ${address} (${name}) is not trusted (${code}). Add its authority to the system's certificates.`;
    default:
      return `${name} at ${address} cannot be reached${code === '' ? '' : ` (${code})`}. Check baseUrl in the setting holdfast.providers.`;
  }
}

/** The first `code` in the chain of causes; empty without one. Happy Eyeballs hides it in an AggregateError. */
function networkCode(error: unknown): string {
  const seen = new Set<unknown>();
  const queue: unknown[] = [error];
  while (queue.length > 0) {
    const next = queue.shift();
    if (!(next instanceof Error) || seen.has(next)) continue;
    seen.add(next);
    if ('code' in next && typeof next.code === 'string' && next.code !== '') return next.code;
    queue.push(next.cause);
    if (next instanceof AggregateError) for (const one of next.errors) queue.push(one);
  }
  return '';
}

/** `silentMs`: how long nothing came, in milliseconds; null when the network layer gave up first. */
export function stalledError(endpoint: Endpoint, silentMs: number | null): ModelError {
  const { name, address, modelId } = endpoint;
  const span = silentMs === null ? 'several minutes' : `${Math.max(1, Math.round(silentMs / 1000))} seconds`;
  return new ModelError(
    'stalled',
    `${name} at ${address} sent nothing for ${span}, so waiting for ${modelId} was given up. What came is kept; press Retry, or choose another model.`,
  );
}

export function truncatedError(endpoint: Endpoint): ModelError {
  return new ModelError(
    'truncated',
    `The connection to ${endpoint.name} at ${endpoint.address} ended before the answer was finished. What came is kept; press Continue or Retry.`,
  );
}

export function damagedError(endpoint: Endpoint): ModelError {
  return new ModelError(
    'truncated',
    `A part of the answer from ${endpoint.name} at ${endpoint.address} arrived damaged, so words are missing. Press Retry.`,
  );
}

export function lengthError(endpoint: Endpoint): ModelError {
  return new ModelError(
    'truncated',
    `The answer reached the greatest length that ${endpoint.name} allows ${endpoint.modelId}. Press Continue for the rest.`,
  );
}

export function filteredError(endpoint: Endpoint): ModelError {
  return new ModelError(
    'provider',
    `The content filter of ${endpoint.name} ended the answer. Ask in other words, or choose another model.`,
  );
}

export function notAStreamError(endpoint: Endpoint): ModelError {
  return new ModelError(
    'provider',
    `${endpoint.address} (${endpoint.name}) answered with a web page instead of a model's answer. Correct baseUrl in the setting holdfast.providers; most end in /v1.`,
  );
}

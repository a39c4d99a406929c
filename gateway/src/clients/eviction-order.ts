import { PlatformUpstream } from '#/upstream/platform-upstream.ts'
import type { ClientConnection } from './client-connection.ts'

/** Eviction order: a kind is evicted only when there is none of the kinds before it. */
export const evictionOrder: readonly ((connection: ClientConnection) => boolean)[] = [
  ({ isWorking }) => !isWorking,
  isAnonymousUpload,
  isUnreadByClient,
  isAnonymous,
]

/** An anonymous client (no account) has not sent all of a request yet. */
function isAnonymousUpload({ exchange }: ClientConnection): boolean {
  return exchange !== undefined && exchange.caller === undefined && !exchange.isRequestDone
}

/** An answer of the platform, which anyone gets, waits for its client to read. */
function isUnreadByClient(connection: ClientConnection): boolean {
  return isForPlatform(connection) && connection.hasUnsentBytes()
}

/** An anonymous client waits for or receives an app's response, or has a WebSocket open. */
function isAnonymous(connection: ClientConnection): boolean {
  const { activeRequest } = connection
  return activeRequest !== undefined && activeRequest.caller === undefined && !isForPlatform(connection)
}

const isForPlatform = ({ exchange }: ClientConnection) => exchange?.parts.upstream instanceof PlatformUpstream

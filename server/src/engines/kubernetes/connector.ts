import { isDeepStrictEqual } from 'node:util'
import type { buildConnector as undici } from 'undici'
import { buildConnector } from '#/engines/transport/connection-pools.ts'
import type { ConnectOptions } from './cluster-access.ts'

/**
 * Opens connections with the options of the moment, because certificates in files rotate.
 * @param read is called for each connection; what it throws is the failure of the connection
 */
export function connectorOf(read: () => Promise<ConnectOptions>): undici.connector {
  let options: ConnectOptions = {}
  let connect: undici.connector | undefined
  const current = async (): Promise<undici.connector> => {
    const now = await read()
    // One with the same certificates is kept: it can resume sessions of TLS.
    if (connect && isDeepStrictEqual(now, options)) return connect
    options = now
    return (connect = buildConnector({ ...now, allowH2: false }))
  }
  return (target, callback) =>
    void current()
      .then((open) => open(target, callback))
      .catch((error: unknown) => callback(error as Error, null))
}

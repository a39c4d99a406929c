import type { OnReadOpts, Socket } from 'node:net'
import { connect } from 'node:tls'

/**
 * A connection to an app that speaks TLS. Its certificate is not checked: no name of a container is in one, and the way there is
 * no other than without TLS.
 * @returns at once; the event `secureConnect` says that it is there
 */
export const connectTls = (
  address: { readonly host: string; readonly port: number },
  options: { readonly onread?: OnReadOpts } = {},
): Socket => connect({ ...options, ...address, rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] })

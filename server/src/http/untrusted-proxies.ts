import type { IncomingMessage } from 'node:http'
import type { Logger } from 'pino'
import { list, message, type Message } from '#/messages/message.ts'
import { clientAddress, isFromUntrustedProxy } from './request-origin.ts'

/** Anybody can send `X-Forwarded-For`, so only so many addresses are kept, and told to the log. */
const maxAddresses = 16
const maxLogged = 4
/** An address that sent none for so long is not warned of any more; in ms. */
const forgottenAfter = 3_600_000

/**
 * Notices reverse proxies that `TRUSTED_PROXIES` does not name: requests with forwarding headers from an address that is
 * not trusted. Everybody behind such a proxy has the proxy's address, in limits and in what users read about sessions.
 */
export class UntrustedProxies {
  readonly #log: Pick<Logger, 'warn'>
  /** When each sent the last such request. */
  readonly #seen = new Map<string, number>()

  constructor(log: Pick<Logger, 'warn'>) {
    this.#log = log
  }

  /** Looks at one request. */
  note(request: IncomingMessage): void {
    if (!isFromUntrustedProxy(request)) return
    const address = clientAddress(request)
    if (address === '') return
    const isNew = !this.#seen.has(address)
    if (isNew && this.#seen.size >= maxAddresses) return
    this.#seen.set(address, Date.now())
    if (!isNew || this.#seen.size > maxLogged) return
    this.#log.warn(
      { address },
      'requests with forwarding headers (X-Forwarded-For, Forwarded, Via, X-Real-IP) come from an address that TRUSTED_PROXIES does not name; if it is your reverse proxy, add it there',
    )
  }

  /** Of the last hour, for the system report. */
  warnings(): Message[] {
    const since = Date.now() - forgottenAfter
    const addresses = [...this.#seen].filter(([, at]) => at >= since).map(([address]) => address)
    const [first] = addresses
    if (first === undefined) return []
    return [message('findings.untrustedProxy', { addresses: list('comma', addresses.slice(0, 4)), first })]
  }
}

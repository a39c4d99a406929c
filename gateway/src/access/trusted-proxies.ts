import { BlockList, isIP } from 'node:net'

/** Max hops of `X-Forwarded-For` that are skipped; a longer chain is not one of trusted proxies. */
const maxHops = 32
/** Max length of an address that is passed on, in characters. */
const maxAddressLength = 45

/** The operator's own proxies in front of the gateway, whose `X-Forwarded-For` is believed. */
export class TrustedProxies {
  readonly #list = new BlockList()
  readonly #isEmpty: boolean

  /** @param networks addresses, or networks such as `10.0.0.0/8`; checked before */
  constructor(networks: readonly string[]) {
    this.#isEmpty = networks.length === 0
    for (const network of networks) {
      const [address = '', bits] = network.split('/')
      const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
      if (bits === undefined) this.#list.addAddress(address, family)
      else this.#list.addSubnet(address, Number(bits), family)
    }
  }

  /**
   * The address of the person asking: from the right of `forwardedFor`, the first that is not a trusted proxy's. What is no address, such
   * as `unknown`, ends the search: what a client wrote itself stands to the left of it.
   */
  clientAddress(peer: string, forwardedFor: string | undefined): string {
    let address = withoutIpv4Mapping(peer)
    if (this.#isEmpty || forwardedFor === undefined) return address
    let end = forwardedFor.length
    for (let hops = 0; end > 0 && hops < maxHops && this.#has(address); hops++) {
      const comma = forwardedFor.lastIndexOf(',', end - 1)
      const element = forwardedFor.slice(comma + 1, end).trim()
      end = comma
      // RFC 9110, 5.6.1.2: empty elements of a list do not count.
      if (element === '') continue
      const next = addressIn(element)
      if (next === undefined) break
      address = next
    }
    return address.slice(0, maxAddressLength)
  }

  /**
   * Whether a proxy passes the request on, and whether it is one of ours. A trusted peer always is one: proxies that are not
   * told to send a forwarding header send none.
   * @param isForwarded the request has a header that only proxies send
   */
  proxyOf(peer: string, isForwarded: boolean): 'none' | 'trusted' | 'untrusted' {
    if (this.isTrusted(peer)) return 'trusted'
    return isForwarded ? 'untrusted' : 'none'
  }

  /** Whether this peer is one of them. */
  isTrusted(peer: string): boolean {
    return !this.#isEmpty && this.#has(withoutIpv4Mapping(peer))
  }

  #has(address: string): boolean {
    return isIP(address) !== 0 && this.#list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
  }
}

/** As proxies write addresses with ports: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
const withPort = /^(?:\[([\da-f:.]+)\]|([\d.]+))(?::\d{1,5})?$/i

/** The address of an element of `X-Forwarded-For`, which may have a port, brackets and quotes (RFC 7239, 6); undefined when it is none. */
function addressIn(element: string): string | undefined {
  const text = /^"([^"]*)"$/.exec(element)?.[1] ?? element
  if (isIP(text) !== 0) return withoutIpv4Mapping(text)
  const [, inBrackets = '', plain = ''] = withPort.exec(text) ?? []
  if (isIP(inBrackets) === 6) return withoutIpv4Mapping(inBrackets)
  return isIP(plain) === 4 ? plain : undefined
}

/** An IPv4 peer of a dual-stack listener is reported as `::ffff:10.0.0.1`. */
const withoutIpv4Mapping = (address: string) =>
  address.startsWith('::ffff:') ? address.replace(/^::ffff:(?=\d+\.)/, '') : address

import type { CallOptions, Reply } from './berth.ts'

interface Asked {
  call(method: string, path: string, options?: CallOptions): Promise<Reply>
}

/** A cookie as RFC 6265 keeps it. */
export interface HostCookie {
  readonly name: string
  readonly value: string
  readonly domain: string
  readonly isHostOnly: boolean
  readonly path: string
}

const navigation = {
  accept: 'text/html',
  'sec-fetch-mode': 'navigate',
  'sec-fetch-dest': 'document',
  'sec-fetch-site': 'none',
}

/** Keeps cookies as a browser does that visits several hosts of one Berth, and follows redirects between them. */
export class HostBrowser {
  readonly #berth: Asked
  cookies: HostCookie[] = []
  /** Addresses of the last navigation, the first one included. */
  visited: string[] = []

  constructor(berth: Asked) {
    this.#berth = berth
  }

  /** Opens an address, and follows where it leads. @param until stops before such an address, and answers the redirect */
  async navigate(url: string, until?: RegExp, headers: Record<string, string> = {}): Promise<Reply> {
    this.visited = []
    for (let next = url; this.visited.length < 12;) {
      this.visited.push(next)
      const reply = await this.send('GET', next, { ...navigation, ...headers })
      const { location } = Object.fromEntries(reply.headers)
      if (location === undefined) return reply
      next = new URL(location, next).href
      if (until?.test(next)) {
        this.visited.push(next)
        return reply
      }
    }
    throw new Error(`led on and on: ${this.visited.join(' -> ')}`)
  }

  /** Asks once, and says nothing of itself but its cookies. */
  async send(method: string, url: string, headers: Record<string, string> = {}, body?: unknown): Promise<Reply> {
    const { hostname, host, pathname, search } = new URL(url)
    const cookie = this.cookiesFor(url)
    const reply = await this.#berth.call(method, pathname + search, {
      headers: { host, ...headers, ...(cookie === '' ? {} : { cookie }) },
      ...(body === undefined ? {} : { body }),
    })
    for (const line of reply.headers.getSetCookie()) this.take(line, hostname)
    return reply
  }

  /** Value of `Cookie` for an address. */
  cookiesFor(url: string): string {
    const { hostname, pathname } = new URL(url)
    const isSent = ({ domain, isHostOnly, path }: HostCookie) =>
      (hostname === domain || (!isHostOnly && hostname.endsWith(`.${domain}`))) &&
      (pathname === path || pathname.startsWith(path.endsWith('/') ? path : `${path}/`))
    return this.cookies
      .filter(isSent)
      .toSorted((a, b) => b.path.length - a.path.length)
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ')
  }

  /** Takes a `Set-Cookie` line that came from a host. */
  take(line: string, host: string): void {
    const [pair = '', ...attributes] = line.split(';').map((each) => each.trim())
    const of = (name: string) => attributes.find((each) => each.toLowerCase().startsWith(`${name}=`))?.split('=')[1]
    const domain = of('domain')
    const cookie = {
      name: pair.slice(0, pair.indexOf('=')),
      value: pair.slice(pair.indexOf('=') + 1),
      domain: domain ?? host,
      isHostOnly: domain === undefined,
      path: of('path') ?? '/',
    }
    const isSame = (other: HostCookie) =>
      (['name', 'domain', 'isHostOnly', 'path'] as const).every((key) => other[key] === cookie[key])
    this.cookies = this.cookies.filter((other) => !isSame(other))
    if (of('max-age') !== '0') this.cookies.push(cookie)
  }

  valueOf(name: string, domain: string): string | undefined {
    return this.cookies.find((each) => each.name === name && each.domain === domain)?.value
  }
}

import type { BootData } from '@berth/api/boot.ts'
import type { CallOptions, Reply } from './berth.ts'

/** Whatever requests are sent to. */
interface Asked {
  call(method: string, path: string, options?: CallOptions): Promise<Reply>
}

interface Cookie {
  readonly name: string
  readonly value: string
  readonly path: string
  /** By the clock of the test, in ms; a cookie without `Max-Age` lasts. */
  readonly expiresAt: number
}

/**
 * Keeps cookies by name, domain and path until they expire, and says of itself what a browser says; without a page, a layout or scripts. What
 * only a real one can show is not for this.
 */
export class CookieBrowser {
  readonly #berth: Asked
  readonly #host: string
  readonly #cookies = new Map<string, Cookie>()

  /** @param host what it asks for, as its address bar has it */
  constructor(berth: Asked, host = 'spawner.berth.example') {
    this.#berth = berth
    this.#host = host
  }

  /** Navigates there, as when a person typed the address, or a page of another site led there. @returns the answer as it is, a redirect as well */
  async navigate(path: string, site: 'none' | 'cross-site' = 'none'): Promise<Reply> {
    return this.#send('GET', path, {
      accept: 'text/html',
      'sec-fetch-mode': 'navigate',
      'sec-fetch-dest': 'document',
      'sec-fetch-site': site,
    })
  }

  /** As `navigate`, and goes where a page without the secret of its address is. @returns what the document says */
  async open(path: string): Promise<BootData> {
    const first = await this.navigate(path)
    const clean = first.status === 302 ? first.headers.get('location') : null
    const reply = clean === null ? first : await this.navigate(clean)
    return JSON.parse(/id="boot"[^>]*>(.*?)<\/script>/s.exec(reply.text)?.[1] ?? '{}') as BootData
  }

  /** Asks as a script of a page on this origin does. @param proof that it was given with its document */
  async ask(method: string, path: string, { proof, body }: { proof?: string | null; body?: unknown } = {}) {
    const headers = { 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty', 'sec-fetch-site': 'same-origin' }
    return this.#send(method, path, proof ? { ...headers, 'x-csrf-token': proof } : headers, body)
  }

  /** What the browser would send there. */
  cookiesFor(path: string): string {
    const lies = (under: string) => path === under || path.startsWith(under.endsWith('/') ? under : `${under}/`)
    // RFC 6265, 5.4: longer paths first.
    return this.#live()
      .filter((cookie) => lies(cookie.path))
      .toSorted((a, b) => b.path.length - a.path.length)
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ')
  }

  valueOf(name: string): string | undefined {
    return this.#live().find((cookie) => cookie.name === name)?.value
  }

  #live(): Cookie[] {
    return [...this.#cookies.values()].filter(({ expiresAt }) => expiresAt > Date.now())
  }

  /** Takes a `Set-Cookie` line, wherever it came from. */
  take(line: string): void {
    const [pair = '', ...attributes] = line.split('; ')
    const attribute = (name: string) =>
      attributes.find((each) => each.startsWith(`${name}=`))?.slice(name.length + 1) ?? ''
    const [name = '', value = ''] = [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]
    const path = attribute('Path') || '/'
    const key = `${name} ${attribute('Domain')} ${path}`
    const maxAge = attribute('Max-Age')
    const expiresAt = maxAge === '' ? Infinity : Date.now() + Number(maxAge) * 1_000
    this.#cookies.set(key, { name, value, path, expiresAt })
  }

  async #send(method: string, path: string, headers: Record<string, string>, body?: unknown): Promise<Reply> {
    const cookie = this.cookiesFor(path.replace(/\?.*$/s, ''))
    const reply = await this.#berth.call(method, path, {
      headers: { host: this.#host, ...headers, ...(cookie === '' ? {} : { cookie }) },
      ...(body === undefined ? {} : { body }),
    })
    for (const line of reply.headers.getSetCookie()) this.take(line)
    return reply
  }
}

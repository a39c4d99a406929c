import type { IncomingMessage } from 'node:http'
import { Refused } from './refused.ts'

/** Max bytes of a body in JSON: an environment of secrets and settings. */
const maxBody = 1024 * 1024
/**
 * Max values in a body: each variable of an environment is one, and a few dozen others. Checking a value costs microseconds, and
 * no other request is served meanwhile: 340,000 empty strings, which fit into `maxBody`, would take 1.4 s.
 */
const maxValues = 8_192

export interface JsonBodyLimits {
  /** In ms: how long a body may take. */
  readonly timeout: number
  /** Max bytes of all bodies that are being read at the same time. */
  readonly maxTotal: number
}

/** Reads bodies in JSON, within limits: many that never end would otherwise take up the memory of the host. */
export class JsonBodies {
  readonly #limits: JsonBodyLimits
  #total = 0

  constructor(limits: JsonBodyLimits) {
    this.#limits = limits
  }

  /**
   * @throws {Refused} when it is too long or too slow, when too much is being read, when it has too many values, or when it is
   * no JSON
   */
  async read(request: IncomingMessage): Promise<unknown> {
    const { timeout, maxTotal } = this.#limits
    const chunks: Buffer[] = []
    let length = 0
    const timer = setTimeout(() => request.destroy(new Refused(`its body takes more than ${timeout} ms`)), timeout)
    try {
      for await (const chunk of request as AsyncIterable<Buffer>) {
        length += chunk.length
        this.#total += chunk.length
        if (length > maxBody) throw new Refused(`its body has more than ${maxBody} bytes`)
        if (this.#total > maxTotal) throw new Refused('too many bodies are being read; ask again later')
        chunks.push(chunk)
      }
      return withFewValues(parse(Buffer.concat(chunks).toString()))
    } finally {
      clearTimeout(timer)
      this.#total -= length
    }
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Refused('its body is no JSON')
  }
}

/** @returns the body @throws {Refused} when it has more than `maxValues`, at any depth; it looks at no more than that */
function withFewValues(body: unknown): unknown {
  const left = [body]
  let count = 1
  while (left.length > 0) {
    const value = left.pop()
    const inside: unknown[] = value instanceof Object ? Object.values(value) : []
    count += inside.length
    if (count > maxValues) throw new Refused(`its body has more than ${maxValues} values`)
    left.push(...inside)
  }
  return body
}

import { createHash, createHmac, timingSafeEqual, type KeyObject } from 'node:crypto'
import { secretPrefix } from '@berth/gateway/tokens/opaque-secrets.ts'

/** What a cookie of ours says: which session, and how many cookies that session had before it. */
export interface ReadCookie {
  readonly sid: string
  readonly generation: number
}

/** Without the prefix: cookies of browsers that signed in before there was one. */
const form = /^(?:berth_)?(\d{1,15})\.([\w-]{43})\.([\w.-]{1,128})$/

/**
 * Values of the cookie `berth_session`. Each is derived from the session and a generation by a secret key, so that the
 * successor of a cookie can be given again although only its hash is stored, and an old cookie is told from an invented
 * one without a list of all that ever were. The key survives restarts and rotations of the signing key. The prefix lets the
 * gateway recognise one wherever a client puts it.
 */
export class SessionCookies {
  readonly #key: KeyObject

  constructor(key: KeyObject) {
    this.#key = key
  }

  valueOf(sid: string, generation: number): string {
    return secretPrefix + this.#withoutPrefix(sid, generation)
  }

  /** Whether this is the hash of the value, of today's form or of the one before. */
  isHash(hash: string | null, sid: string, generation: number): boolean {
    return (
      hash === hashOfCookie(this.valueOf(sid, generation)) ||
      hash === hashOfCookie(this.#withoutPrefix(sid, generation))
    )
  }

  /** The parts of a value that this key made; undefined for everything else. */
  read(value: string): ReadCookie | undefined {
    const [, digits = '', mac = '', sid = ''] = form.exec(value) ?? []
    const generation = Number(digits)
    const isOurs = sid !== '' && timingSafeEqual(Buffer.from(mac), Buffer.from(this.#macOf(sid, generation)))
    return isOurs ? { sid, generation } : undefined
  }

  #withoutPrefix(sid: string, generation: number): string {
    return `${generation}.${this.#macOf(sid, generation)}.${sid}`
  }

  #macOf(sid: string, generation: number): string {
    return createHmac('sha256', this.#key).update(`${generation} ${sid}`).digest('base64url')
  }
}

/** What the store keeps of a value. */
export const hashOfCookie = (value: string) => createHash('sha256').update(value).digest('base64url')

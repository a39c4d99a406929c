import { createCipheriv, createDecipheriv, createSecretKey, randomBytes, type KeyObject } from 'node:crypto'

/** Bytes of the nonce and of the tag. Source: NIST SP 800-38D. */
const [nonceLength, tagLength] = [12, 16]

/** Seals text so that only this installation can read it, with integrity protection: AES-256-GCM. */
export class Seal {
  /** Not the bytes: Node takes twice as long to seal with those. */
  readonly #key: KeyObject

  /** @param key 32 bytes */
  constructor(key: Buffer) {
    this.#key = createSecretKey(key)
  }

  /** @param context what the text belongs to; it opens with the same alone @returns base64url */
  close(text: string, context: string): string {
    const nonce = randomBytes(nonceLength)
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonce).setAAD(Buffer.from(context))
    const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
    return Buffer.concat([nonce, sealed, cipher.getAuthTag()]).toString('base64url')
  }

  /** The text; undefined when it was sealed by another key or for another context, or was changed. */
  open(sealed: string, context: string): string | undefined {
    const bytes = Buffer.from(sealed, 'base64url')
    if (bytes.length < nonceLength + tagLength) return undefined
    const decipher = createDecipheriv('aes-256-gcm', this.#key, bytes.subarray(0, nonceLength), {
      authTagLength: tagLength,
    })
    decipher.setAAD(Buffer.from(context)).setAuthTag(bytes.subarray(-tagLength))
    try {
      const text = decipher.update(bytes.subarray(nonceLength, -tagLength))
      return Buffer.concat([text, decipher.final()]).toString('utf8')
    } catch {
      return undefined
    }
  }
}

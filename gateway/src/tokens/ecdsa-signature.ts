/** Bytes of one of the two numbers of a signature by P-256. */
const numberSize = 32
/** Tags of ASN.1 (X.690): a sequence, and an integer. */
const [sequence, integer] = [0x30, 0x02]

/**
 * The ASN.1 form (ECDSA-Sig-Value, RFC 3279) of the signature of a token, which has the two numbers one after the other
 * (RFC 7518, 3.4). Node converts it, too, but exports the key from OpenSSL each time, which costs 15 us of a
 * check that a request without an account can cause.
 * @param signature 64 bytes
 */
export function derSignature(signature: Buffer): Buffer {
  const [r, s] = [new UnsignedInteger(signature, 0), new UnsignedInteger(signature, numberSize)]
  const der = Buffer.alloc(2 + r.size + s.size)
  der[0] = sequence
  der[1] = r.size + s.size
  r.writeTo(der, 2)
  s.writeTo(der, 2 + r.size)
  return der
}

/** A number in ASN.1: without zeros in front, but with one where the first bit is set, which is the sign. */
class UnsignedInteger {
  readonly #bytes: Buffer
  readonly #first: number
  readonly #end: number
  readonly #length: number

  constructor(bytes: Buffer, start: number) {
    this.#bytes = bytes
    this.#end = start + numberSize
    let first = start
    while (first < this.#end - 1 && bytes[first] === 0) first++
    this.#first = first
    this.#length = this.#end - first + ((bytes[first] ?? 0) >= 0x80 ? 1 : 0)
  }

  /** Bytes that it takes, with its tag and its length. */
  get size(): number {
    return 2 + this.#length
  }

  writeTo(der: Buffer, at: number): void {
    der[at] = integer
    der[at + 1] = this.#length
    this.#bytes.copy(der, at + 2 + this.#length - (this.#end - this.#first), this.#first, this.#end)
  }
}

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
  const r = unsignedInteger(signature.subarray(0, numberSize))
  const s = unsignedInteger(signature.subarray(numberSize))
  return Buffer.from([sequence, r.length + s.length, ...r, ...s])
}

/** Without zeros in front, but with one where the first bit is set, which is the sign. */
function unsignedInteger(bytes: Buffer): readonly number[] {
  const first = bytes.findIndex((byte) => byte !== 0)
  const digits = first < 0 ? [0] : [...bytes.subarray(first)]
  const padded = (digits[0] ?? 0) >= 0x80 ? [0, ...digits] : digits
  return [integer, padded.length, ...padded]
}

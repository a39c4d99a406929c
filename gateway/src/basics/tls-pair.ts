import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { createSecureContext } from 'node:tls'

/** Files of a certificate chain and its key, in PEM. */
export interface TlsFiles {
  readonly certFile: string
  readonly keyFile: string
}

/** A certificate chain with its key, or why it cannot be used: a sentence with the command that mends it. */
export type TlsPair =
  { readonly cert: Buffer; readonly key: Buffer; readonly validTo: Date } | { readonly problem: string }

/**
 * Reads a certificate chain and its key. A pair is refused that is damaged or does not belong together, and a key that
 * every account of the machine can use. One that is expired is not: without it Berth would not start.
 */
export function readTlsPair({ certFile, keyFile }: TlsFiles): TlsPair {
  try {
    const [cert, key] = [readFileSync(certFile), readFileSync(keyFile)]
    if ((statSync(keyFile).mode & 0o007) !== 0)
      return { problem: `every account of this machine can use ${keyFile}. Run: chmod o= ${keyFile}` }
    // The first certificate of a chain is the server's (RFC 8446, 4.4.2).
    const leaf = new X509Certificate(cert)
    if (!leaf.checkPrivateKey(createPrivateKey(key)))
      return { problem: `the key in ${keyFile} does not belong to the certificate in ${certFile}` }
    // Throws for what the first certificate does not show: a half-written chain behind it, or a key too short for OpenSSL.
    createSecureContext({ cert, key })
    const validTo = new Date(leaf.validTo)
    return { cert, key, validTo }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    return { problem: code === 'ENOENT' || code === 'EACCES' ? message : `${certFile} and ${keyFile}: ${message}` }
  }
}

/** Whether browsers take a certificate for a host. @param pair its first certificate is the server's */
export const coversHost = ({ cert }: { readonly cert: Buffer }, host: string) =>
  new X509Certificate(cert).checkHost(host) !== undefined

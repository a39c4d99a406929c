import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import path from 'node:path'
import type { TlsFiles } from '../../gateway/src/basics/tls-pair.ts'
import { scratch } from './programs.ts'

/** A self-signed certificate (ECDSA, P-256) for all proxies that speak TLS; made once. */
export function tlsFiles(): TlsFiles {
  const files = { certFile: path.join(scratch, 'tls.pem'), keyFile: path.join(scratch, 'tls.key') }
  if (existsSync(files.certFile)) return files
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '3650', '-subj', '/CN=bench']
  execFileSync('openssl', ['req', '-x509', ...kind, '-keyout', files.keyFile, '-out', files.certFile], {
    stdio: 'ignore',
  })
  return files
}

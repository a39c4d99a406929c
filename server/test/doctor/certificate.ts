import { execFile } from 'node:child_process'
import path from 'node:path'
import type { TestContext } from 'node:test'
import { promisify } from 'node:util'
import { folderFor } from './check-context.ts'

/** Files of a self-signed certificate for a host. @param days until it ends; less than 0: it ended already */
export async function certificateFiles(t: TestContext, host: string, days: number) {
  const folder = folderFor(t)
  const [key, cert] = [path.join(folder, 'key.pem'), path.join(folder, 'cert.pem')]
  const day = (offset: number) => new Date(Date.now() + offset * 86_400_000).toISOString().replace(/[-:T]|\.\d+/g, '')
  const openssl = (words: string) => promisify(execFile)('openssl', words.split(' '), { cwd: folder })
  await openssl(
    `req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=${host} -keyout key.pem -out request.pem -addext subjectAltName=DNS:${host}`,
  )
  // Only `openssl ca` takes both ends of the time.
  const { writeFileSync } = await import('node:fs')
  const config =
    '[ca]\ndefault_ca=own\n[own]\ndatabase=index.txt\nserial=serial\nnew_certs_dir=.\ndefault_md=sha256\npolicy=any\ncopy_extensions=copy\n[any]\ncommonName=supplied\n'
  writeFileSync(path.join(folder, 'ca.cnf'), config)
  writeFileSync(path.join(folder, 'index.txt'), '')
  writeFileSync(path.join(folder, 'serial'), '01\n')
  await openssl(
    `ca -batch -selfsign -config ca.cnf -in request.pem -out cert.pem -keyfile key.pem -startdate ${day(days - 90)} -enddate ${day(days)} -notext`,
  )
  return { cert, key }
}

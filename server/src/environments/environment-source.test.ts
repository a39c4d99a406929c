import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { FileSources } from '#/templates/starter-files/file-sources.ts'
import { readSource } from './environment-source.ts'

test('a repository that a manager names is fetched without the accounts of the machine', async (t) => {
  const home = await mkdtemp(path.join(tmpdir(), 'berth-source-'))
  t.after(() => rm(home, { recursive: true }))
  let signedIn = 0
  const server = createServer((request, response) => {
    if (request.headers.authorization !== undefined) signedIn++
    response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end()
  }).listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  await writeFile(path.join(home, '.netrc'), 'machine 127.0.0.1 login operator password secret\n')
  const { HOME } = process.env
  process.env.HOME = home
  t.after(() => (HOME === undefined ? delete process.env.HOME : (process.env.HOME = HOME)))
  const sources = new FileSources({ folder: path.join(home, 'files'), roots: [] })
  const source = { git: `http://127.0.0.1:${(server.address() as AddressInfo).port}/x.git` }
  const fetch = (isAnonymous: boolean) =>
    assert.rejects(readSource(source, sources, AbortSignal.timeout(30_000), isAnonymous))
  await fetch(true)
  assert.equal(signedIn, 0)
  await fetch(false)
  assert.ok(signedIn > 0)
})

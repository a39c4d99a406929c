import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { test } from 'node:test'
import { linesOfTables, listeningIn } from './listening-programs.ts'

test('of a port with several addresses one that is open to others decides; names of Docker are no program', () => {
  const lines =
    '8080 0.0.0.0\n3000 127.0.0.1\n3000 ::1\n4000 ::1\n4000 ::\n5000 ::ffff:127.0.0.1\n41999 127.0.0.11\nnot a line\n'
  assert.deepEqual(listeningIn(lines), [
    { port: 3000, isLoopback: true },
    { port: 4000, isLoopback: false },
    { port: 5000, isLoopback: true },
    { port: 8080, isLoopback: false },
  ])
})

test('the kernel’s own tables are read as the container tool reads them', async (t) => {
  const hosts = ['127.0.0.1', '0.0.0.0', '::1', '::']
  const servers = hosts.map((host) => createServer().listen(0, host))
  t.after(() => servers.forEach((server) => server.close()))
  await Promise.all(servers.map((server) => once(server, 'listening')))
  const tables = ['tcp', 'tcp6'].map((name) => readFileSync(`/proc/net/${name}`, 'utf8')).join('')
  const found = listeningIn(linesOfTables(tables))
  const seen = servers.map((server) => found.find(({ port }) => port === (server.address() as AddressInfo).port))
  assert.deepEqual(
    seen.map((each) => each?.isLoopback),
    [true, false, true, false],
  )
})

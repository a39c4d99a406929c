import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { prepareLinkFolder } from './run-folder.ts'

function makeFolder(t: TestContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-link-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

// The second one removed the sockets of the first, which went on without an API, whose next process connected to the other.
test('a second gateway in the folder of one that runs is refused, and removes nothing', async (t) => {
  const folder = makeFolder(t)
  const files = ['gateway.sock', 'api.sock', 'operator.sock'].map((name) => path.join(folder, name))
  const running = createServer().listen(files[0])
  t.after(() => running.close())
  await once(running, 'listening')
  for (const file of files.slice(1)) writeFileSync(file, '')
  await assert.rejects(prepareLinkFolder(folder), /^Error: Another gateway runs in .*BERTH_LINK_DIR/)
  assert.ok(files.every((file) => existsSync(file)))
  const client = connect(files[0] ?? '')
  await once(client, 'connect')
  client.destroy()
})

test('the socket of a gateway that was killed is left over, and is removed', async (t) => {
  const folder = makeFolder(t)
  const socket = path.join(folder, 'gateway.sock')
  // What a listener leaves that does not close: closing it removes its path.
  const program = `net.createServer().listen(${JSON.stringify(socket)}, () => process.kill(process.pid, 'SIGKILL'))`
  spawnSync(process.execPath, ['--eval', program])
  assert.ok(existsSync(socket))
  assert.equal(await prepareLinkFolder(folder), socket)
  assert.ok(!existsSync(socket))
})

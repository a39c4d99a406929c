import assert from 'node:assert/strict'
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createServer } from 'node:http'
import { test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { writePidFile } from '@berth/gateway/supervisor/run-folder.ts'
import { noEngine, runCommand } from '#test/support/command-line.ts'
import { addressesIn, fillSmallStore } from '#test/support/store/filled-store.ts'

/**
 * A service that uses the data folder, and whose socket is not seen: it runs in another container with the same volume, or systemd
 * gives it a /tmp of its own. Commands did their work beside it: a restore replaced its store, and it never learned of a block.
 */

async function holdLock(t: TestContext, dataDir: string): Promise<ChildProcess> {
  const source = path.resolve(import.meta.dirname, '../../src/store/database-lock.ts')
  const program = path.join(dataDir, '..', 'holder.mjs')
  writeFileSync(
    program,
    `const { holdDataFolder } = await import(${JSON.stringify(source)})
    const lock = await holdDataFolder(process.argv[2], { timeout: 0 })
    process.send(lock !== undefined)
    setInterval(() => lock, 1000)`,
  )
  const child = fork(program, [dataDir])
  t.after(() => child.kill('SIGKILL'))
  assert.deepEqual(await once(child, 'message'), [true, undefined])
  return child
}

test('commands that need the store are refused while a service that they cannot reach uses it, and change nothing', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-held-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const [dataDir, backups, address] = ['data', 'backups', 'address'].map((name) => path.join(folder, name)) as [
    string,
    string,
    string,
  ]
  await fillSmallStore(null, dataDir, 'berth-ghkmn')
  const users = await addressesIn(null, dataDir)
  const berth = (...args: string[]) => runCommand({ ...noEngine, DATA_DIR: dataDir }, ...args)
  const made = await berth('backup', backups, '--no-homes')
  assert.equal(made.code, 0, made.stderr)
  const backup = path.join(backups, readdirSync(backups)[0] ?? '')
  writeFileSync(address, 'postgres://127.0.0.1:9/nothing', { mode: 0o600 })

  const holder = await holdLock(t, dataDir)
  const { pid = 0 } = holder
  const lock = statSync(path.join(dataDir, 'lock'))
  writePidFile(dataDir, {
    socket: '/tmp/berth-run-nowhere/operator.sock',
    pid,
    since: new Date(Date.now() - 3_600_000),
  })
  for (const args of [
    ['restore', backup, '--force', '--no-homes'],
    ['store', 'copy', '--to', address],
    ['users', 'block', 'ann@x.org'],
  ]) {
    const { code, stdout, stderr } = await berth(...args)
    assert.equal(code, 1, `${args.join(' ')}: ${stdout}`)
    assert.match(stderr, /Another process uses the data folder .* not seen from here.*Nothing was done\./)
    assert.ok(stderr.includes(`process ${pid}`), stderr)
  }
  rmSync(path.join(dataDir, 'operator-socket'))
  assert.match((await berth('restore', backup, '--force', '--no-homes')).stderr, /in another container/)

  assert.deepEqual(await addressesIn(null, dataDir), users)
  assert.ok(readdirSync(dataDir).every((name) => !name.startsWith('before-restore')))

  holder.kill('SIGKILL')
  await once(holder, 'exit')
  const restored = await berth('restore', backup, '--force', '--no-homes')
  assert.equal(restored.code, 0, restored.stderr)
  assert.equal(statSync(path.join(dataDir, 'lock')).ino, lock.ino, 'the lock is not moved aside with the store')
})

// Right after a restart a command said that the socket is not seen, as with PrivateTmp=yes, while the service was only starting.
test('a command waits for a service that has the data folder and does not say yet where it is', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-starting-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const [dataDir, socket] = [path.join(folder, 'data'), path.join(folder, 'operator.sock')]
  await fillSmallStore(null, dataDir, 'berth-ghkmp')
  const { pid = 0 } = await holdLock(t, dataDir)
  const service = createServer((_, response) => {
    response.writeHead(409, { 'content-type': 'application/json' }).end('{"error":"The service was asked."}')
  })
  t.after(() => service.close())
  const asked = runCommand({ ...noEngine, DATA_DIR: dataDir }, 'users', 'block', '12')
  await sleep(2_000)
  await new Promise<void>((resolve) => service.listen(socket, resolve))
  writePidFile(dataDir, { socket, pid, since: new Date() })
  const { code, stderr } = await asked
  assert.equal(code, 1)
  assert.match(stderr, /The service was asked\./)
})

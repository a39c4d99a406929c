import assert from 'node:assert/strict'
import { execFileSync, spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { copyFileSync, globSync, mkdtempSync, rmSync } from 'node:fs'
import { once } from 'node:events'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { buffer, text } from 'node:stream/consumers'
import { after, test, type TestContext } from 'node:test'
import { containerTool } from '#/engines/container-tool.ts'
import { archiveOf, askEngine, findBusybox } from '../support/engine/engine.ts'
import { execInContainer, runInContainer } from '../support/engine/exec-in-container.ts'
import { eventually, openInstallation } from '../support/engine/runtimes.ts'

/** Where set-up compiles it to. */
const tool = path.resolve(import.meta.dirname, '../../../.berth/container-tool', process.arch, 'berth-tool')

const start = (...args: readonly string[]): ChildProcessWithoutNullStreams => spawn(tool, args)

/** Starts a server that answers what it got, when the client has ended its side. @returns its port */
async function startEcho(t: TestContext, where: { host: string } | { path: string }): Promise<number> {
  const server: Server = createServer({ allowHalfOpen: true }, (socket) => socket.pipe(socket))
  t.after(() => server.close())
  server.listen('path' in where ? where : { ...where, port: 0 })
  await once(server, 'listening')
  return 'path' in where ? 0 : (server.address() as AddressInfo).port
}

test('the container tool lists what listens, with the address', async (t) => {
  const [four, six] = [await startEcho(t, { host: '127.0.0.1' }), await startEcho(t, { host: '::1' })]
  const [any, anySix] = [await startEcho(t, { host: '0.0.0.0' }), await startEcho(t, { host: '::' })]
  const lines = (await text(start('ports').stdout)).split('\n')
  for (const line of [`${four} 127.0.0.1`, `${six} ::1`, `${any} 0.0.0.0`, `${anySix} ::`])
    assert.ok(lines.includes(line), `${line} is not in ${lines.join(', ')}`)
})

test('it carries megabytes both ways over IPv4, IPv6 and a Unix socket, and the end of each side', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-tool-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const socket = path.join(folder, 'socket')
  const ports = [await startEcho(t, { host: '127.0.0.1' }), await startEcho(t, { host: '::1' })]
  await startEcho(t, { path: socket })
  const sent = Buffer.alloc(5_000_000, 'all of it, ')
  for (const args of [...ports.map((port) => ['connect', String(port)]), ['connect-unix', socket]]) {
    const child = start(...args)
    child.stdin.end(sent)
    const got = await buffer(child.stdout)
    assert.ok(got.equals(Buffer.concat([Buffer.from('connected\n'), sent])), `${args.join(' ')}: ${got.length} bytes`)
  }
})

test('with --together it ends with its input, though the program goes on to send', async (t) => {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    const timer = setInterval(() => socket.write('more'), 5)
    socket.on('error', () => undefined).on('close', () => clearInterval(timer))
  })
  t.after(() => server.close())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const child = start('connect', '--together', String((server.address() as AddressInfo).port))
  child.stdout.resume()
  await once(child.stdout, 'data')
  child.stdin.end()
  assert.deepEqual(await once(child, 'exit'), [0, null])
})

test('it ends when a program takes nothing and says nothing for long, for its reader may have gone', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-tool-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const quick = path.join(folder, 'quick')
  const sources = globSync(path.resolve(import.meta.dirname, '../../../container-tool/*.c'))
  execFileSync('gcc', ['-std=c11', '-D_GNU_SOURCE', '-DMAX_STUCK=300', ...sources, '-o', quick])
  const server = createServer((socket) => void socket.pause().on('error', () => undefined))
  t.after(() => server.close())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const child = spawn(quick, ['connect', String((server.address() as AddressInfo).port)])
  t.after(() => child.kill())
  child.stdin.on('error', () => undefined).write(Buffer.alloc(20_000_000))
  child.stdout.resume()
  assert.deepEqual(await once(child, 'exit'), [0, null])
})

test('where nothing listens its exit code is 10, and wrong arguments are told', async () => {
  const codeOf = async (...args: readonly string[]) => (await once(start(...args), 'exit'))[0] as number
  assert.equal(await codeOf('connect', '1'), 10)
  assert.equal(await codeOf('connect-unix', '/nowhere'), 10)
  assert.equal(await codeOf('connect-unix', `/${'x'.repeat(200)}`), 1)
  for (const args of [[], ['connect'], ['connect', '0'], ['connect', '65536'], ['connect', '-1'], ['connect', '1x']])
    assert.equal(await codeOf(...args), 2, args.join(' '))
})

/** An image with one program, and neither a shell nor an entry for its user. */
async function importBareImage(t: TestContext): Promise<string> {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-bare-'))
  t.after(() => rmSync(folder, { recursive: true }))
  copyFileSync(findBusybox(), path.join(folder, 'httpd'))
  const changes = 'USER 54321:54321'
  const query = { fromSrc: '-', repo: 'berth-test-bare', tag: '1', changes }
  await askEngine('POST', '/images/create', { query, archive: await archiveOf(folder) })
  // Behind the container, which the installation's own end removes first.
  after(() => askEngine('DELETE', '/images/berth-test-bare:1', { query: { force: 'true' } }).catch(() => undefined))
  return 'berth-test-bare:1'
}

test('it runs in a container without a shell, as its own user, whose root file system is read-only', async (t) => {
  const { run } = await openInstallation(t)
  const image = await importBareImage(t)
  const command = ['/httpd', '-f', '-p', '127.0.0.1:8080', '-h', '/']
  const { id } = await run('bare', { image, command, readOnly: true })
  await eventually(async () =>
    assert.match((await runInContainer(id, [containerTool, 'ports'])).printed, /^8080 127\.0\.0\.1$/m),
  )
  const refused = await runInContainer(id, [containerTool, 'connect', '8081'])
  assert.equal(refused.code, 10)
})

test('no program of a container can change it', async (t) => {
  const { run } = await openInstallation(t)
  const { id } = await run('writer')
  await assert.rejects(execInContainer(id, `echo x > ${containerTool}`), /read-only file system/i)
  await assert.rejects(execInContainer(id, `rm -f ${containerTool}`), /read-only file system/i)
})

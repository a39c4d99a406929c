/**
 * Part of `npm run test:release`: what is in `dist/` for ARM64, on a machine that is none. Programs run in QEMU's user emulation,
 * which Debian has; an installation, with an engine, was never tried.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { test } from 'node:test'

const dist = resolve(import.meta.dirname, '../../../dist')
const hundredFiftyMB = 150_000_000
/** Of ELF, EM_AARCH64. */
const arm64 = 183

const artefact = (/** @type {RegExp} */ pattern) => {
  const name = existsSync(dist) ? readdirSync(dist).find((each) => pattern.test(each)) : undefined
  if (name === undefined) throw new Error(`dist/ has no ${pattern}: npm run release`)
  return join(dist, name)
}

/** A folder that goes with the test. @param {import('node:test').TestContext} t */
function folderFor(t) {
  const folder = mkdtempSync(join(tmpdir(), 'berth-arm64-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

/** Files that a kernel would run or load, with the kind of machine that they are for. @param {string} folder */
function programsIn(folder) {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return files.flatMap((entry) => {
    const path = join(entry.parentPath, entry.name)
    const head = Buffer.alloc(20)
    const file = openSync(path, 'r')
    readSync(file, head)
    closeSync(file)
    return head.toString('latin1', 0, 4) === '\x7fELF' ? [{ path, machine: head.readUInt16LE(18) }] : []
  })
}

/** @param {string} folder */
function assertNative(folder) {
  const programs = programsIn(folder)
  assert.ok(
    programs.some(({ path }) => path.endsWith('/node')) && programs.some(({ path }) => path.endsWith('/pty.node')),
  )
  assert.deepEqual(
    programs.filter(({ machine }) => machine !== arm64),
    [],
  )
}

test('tarball and package for arm64 have programs of that kind alone', (t) => {
  const folder = folderFor(t)
  mkdirSync(join(folder, 'tarball'))
  execFileSync('tar', ['-xzf', artefact(/linux-arm64\.tar\.gz$/), '-C', join(folder, 'tarball')])
  assertNative(join(folder, 'tarball'))
  const deb = artefact(/_arm64\.deb$/)
  execFileSync('dpkg-deb', ['--extract', deb, join(folder, 'package')])
  assertNative(join(folder, 'package'))
  assert.equal(execFileSync('dpkg-deb', ['--field', deb, 'Architecture'], { encoding: 'utf8' }).trim(), 'arm64')
  const contents = readFileSync(join(folder, 'package/usr/lib/berth/sbom.cdx.json'), 'utf8')
  assert.ok(contents.includes('node-pty-linux-arm64') && !contents.includes('node-pty-linux-x64'))
})

test('the image for arm64 has less than 150 MB and all that its programs need, which run in emulation', (t) => {
  const folder = folderFor(t)
  const [layout, root] = [join(folder, 'layout'), join(folder, 'root')]
  for (const path of [layout, root]) mkdirSync(path)
  execFileSync('tar', ['-xf', artefact(/oci-arm64\.tar$/), '-C', layout])
  const [{ Config, Layers }] = JSON.parse(readFileSync(join(layout, 'manifest.json'), 'utf8'))
  const { architecture, variant } = JSON.parse(readFileSync(join(layout, Config), 'utf8'))
  assert.deepEqual([architecture, variant], ['arm64', 'v8'])
  let size = 0
  for (const layer of Layers) {
    size += Number(execFileSync('sh', ['-c', `gzip -dc ${join(layout, layer)} | wc -c`], { encoding: 'utf8' }))
    execFileSync('tar', ['-xzf', join(layout, layer), '-C', root])
  }
  t.diagnostic(`image for arm64: ${(size / 1e6).toFixed(0)} MB`)
  assert.ok(size < hundredFiftyMB, `${size} bytes`)
  assertNative(root)

  execFileSync('apt-get', ['download', 'qemu-user-static'], { cwd: folder, stdio: 'ignore' })
  const name = readdirSync(folder).find((each) => each.endsWith('.deb')) ?? ''
  execFileSync('dpkg-deb', ['--extract', join(folder, name), join(folder, 'qemu')])
  const emulate = (/** @type {string[]} */ ...command) =>
    execFileSync(join(folder, 'qemu/usr/bin/qemu-aarch64-static'), ['-L', root, ...command], {
      encoding: 'utf8',
      env: { ...process.env, DATA_DIR: join(folder, 'data'), BERTH_CACHE_DIR: join(folder, 'cache') },
    })
  const program = join(root, 'usr/lib/berth')
  const node = join(program, 'node')
  assert.equal(emulate(node, '--print', 'process.arch').trim(), 'arm64')
  const terminal = join(program, 'images/workspace/node_modules/@lydell/node-pty')
  assert.match(emulate(node, '--print', `typeof require('${terminal}').spawn`), /function/)
  const cli = join(program, 'cli/src/main.ts')
  assert.match(emulate(node, cli, 'templates', 'check', 'code-server,vite'), /is right/)
  for (const tool of ['bin/busybox', 'bin/tar']) assert.match(emulate(join(root, tool), '--help'), /tar/)
})

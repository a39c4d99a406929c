// Part of npm run test:long: installs a Debian by debootstrap, and asks the registry of Debian.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { askEngine } from '#test/support/engine/engine.ts'
import { startEnvironmentBerth } from '#test/support/environment-berth.ts'

/** Packages of apt on a real base, through the network of containers. */
const base = 'berth-test-debian:1'
const certificates = '/etc/ssl/certs/ca-certificates.crt'

/** A Debian, once per machine; with the certificates of this machine, whose registries may be behind its own. */
async function ensureBase(): Promise<void> {
  const exists = await askEngine('GET', `/images/${base}/json`).then(
    () => true,
    () => false,
  )
  if (exists) return
  if (!existsSync('/usr/sbin/debootstrap')) execFileSync('apt-get', ['install', '-y', 'debootstrap'])
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-debian-'))
  const root = path.join(folder, 'root')
  try {
    execFileSync('debootstrap', ['--variant=minbase', '--include=ca-certificates', 'bookworm', root])
    copyFileSync(certificates, path.join(root, certificates))
    const archive = path.join(folder, 'root.tar')
    execFileSync('tar', ['-c', '-C', root, '--exclude=./proc/*', '--exclude=./sys/*', '-f', archive, '.'])
    const call = `http://engine/images/create?fromSrc=-&repo=${base.split(':')[0]}&tag=1`
    execFileSync('curl', [
      '--silent',
      '--fail',
      '--unix-socket',
      '/var/run/docker.sock',
      '-X',
      'POST',
      '-T',
      archive,
      call,
    ])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

await ensureBase()
const { ask, make, build } = await startEnvironmentBerth(
  { after },
  { env: { BUILD_MEMORY: '512m', BUILD_TIMEOUT: '300' } },
)

test('packages of apt are added, and their programs run', { timeout: 600_000 }, async () => {
  await make('tools', {
    base,
    apt: ['jq'],
    run: ['jq --version'],
  })
  const { error, state, size } = await build('tools', 300_000)
  assert.equal(error, null)
  assert.equal(state, 'ready')
  assert.ok((size ?? 0) > 50_000_000)
  const log = (await ask('GET', '/tools/versions/1/log')).text
  assert.match(log, /^jq-1\./m)
})

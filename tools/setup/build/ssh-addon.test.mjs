// Part of npm run test:more: set-up has compiled the ciphers before npm test, and the tests of server/test/ssh use them.
import assert from 'node:assert/strict'
import { createCipheriv, randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { temporaryRepository } from '../../test-support/temporary-repository.mjs'
import { addonCompilerFor, compileSshAddon, ensureSshAddon, nodeHeaders, sshAddonFolder } from './ssh-addon.mjs'

const root = resolve(import.meta.dirname, '../../..')
const arch = process.arch === 'arm64' ? 'arm64' : 'x64'
const compiler = addonCompilerFor(arch, process.env)
const include = nodeHeaders(process.execPath)
const skip = compiler === undefined || include === undefined ? 'no C++ compiler, or no headers of Node' : false

test('the ciphers of the SSH server compile, and encrypt a packet as Node does', { skip }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'berth-ssh-addon-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const log = join(folder, 'log')
  await compileSshAddon({ root, tree: folder, compiler: compiler ?? '', include: include ?? '', log })
  const { AESGCMCipher } = createRequire(import.meta.url)(join(folder, sshAddonFolder, 'Release/sshcrypto.node'))
  const [key, iv, content] = [randomBytes(16), randomBytes(12), randomBytes(32_784)]
  const length = Buffer.alloc(4)
  length.writeUInt32BE(content.length)
  const expected = createCipheriv('aes-128-gcm', key, iv).setAAD(length)
  const encrypted = [length, expected.update(content), expected.final(), expected.getAuthTag()]
  const packet = Buffer.concat([length, content, Buffer.alloc(16)])
  new AESGCMCipher('aes-128-gcm', key, iv).encrypt(packet)
  assert.ok(packet.equals(Buffer.concat(encrypted)))
})

test('a machine without a compiler starts without them, and is told nothing', async (t) => {
  const source = `${sshAddonFolder}/../src/binding.cc`
  const { here, said } = temporaryRepository(t, { [source]: '' }, { PATH: '/nonexistent' })
  await ensureSshAddon(here)
  assert.deepEqual(said, [])
})

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { isSignedBy, parseSshKey, readSshKey } from '#/accounts/ssh-public-key.ts'
import { hostKeyFrom } from '#/ssh/host-key.ts'
import { assertOk, assertRefused } from '#test/support/api-calls.ts'
import { startBerth } from '#test/support/berth.ts'

/** Public keys of people: what may be added, by whom, and whose signatures count. Source: contract, section 17. */
const berth = await startBerth({ after })
const boss = await berth.administrator()
const ann = await berth.signUpWithoutContainer('ann@x.org')
const folder = mkdtempSync(path.join(tmpdir(), 'berth-keys-'))
after(() => rmSync(folder, { recursive: true }))

let made = 0
function newKey(...options: string[]): string {
  const file = path.join(folder, `key${made++}`)
  execFileSync('ssh-keygen', ['-q', '-N', '', '-C', 'ann@desk', '-f', file, ...options])
  return readFileSync(`${file}.pub`, 'utf8')
}

const add = (key: string, title = '', token = ann.token) =>
  berth.call('POST', '/api/user/ssh-keys', { body: { key, title }, token })

function field(content: Buffer | string): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(Buffer.byteLength(content))
  return Buffer.concat([length, Buffer.from(content)])
}

test('without SSH_LISTEN there is no server, and no text for a client', async () => {
  assert.equal((await berth.call('GET', '/api/ssh')).status, 404)
  assert.equal((await ann.call('GET', '/api/user/ssh-config')).status, 404)
})

test('a key is listed with its title, its type and the fingerprint that ssh-keygen prints, and is removed', async () => {
  const line = newKey('-t', 'ed25519')
  const added = await add(line, 'Laptop')
  assertOk(added)
  const [, fingerprint] = execFileSync('ssh-keygen', ['-lf', '-'], { input: line }).toString().split(' ')
  const { id, title, type, last_used: lastUsed } = added.body
  assert.deepEqual([title, type, added.body.fingerprint, lastUsed], ['Laptop', 'ssh-ed25519', fingerprint, null])
  const { keys } = (await ann.call('GET', '/api/user/ssh-keys')).body
  assert.deepEqual(keys, [added.body])
  assert.equal((await boss.call('DELETE', `/api/user/ssh-keys/${id}`)).status, 404)
  assertOk(await ann.call('DELETE', `/api/user/ssh-keys/${id}`))
  assert.deepEqual((await ann.call('GET', '/api/user/ssh-keys')).body.keys, [])
  assert.equal((await ann.call('DELETE', '/api/user/ssh-keys/x')).status, 404)
})

test('a title is one line, as the mail and the audit log have it', async () => {
  const line = newKey('-t', 'ed25519')
  for (const title of ['a\nb', '\u001b[31mred', 'a\u202eb']) assertRefused(await add(line, title), 400)
  const added = await add(`${line.trim()}\u202e\u001b[31m`)
  assertOk(added)
  assert.equal(added.body.title, 'ann@desk[31m')
  assertOk(await ann.call('DELETE', `/api/user/ssh-keys/${added.body.id}`))
})

test('what is no key that may be added is refused with 400, in words', async () => {
  const good = newKey('-t', 'ed25519')
  const [type, blob = ''] = good.split(' ')
  const wrong = [
    'hello', 'ssh-ed25519', `${type} AAAA`, `${type} ${blob.slice(0, -8)}`, `ssh-rsa ${blob}`, `command="x" ${good}`,
    newKey('-t', 'rsa', '-b', '1024'), 'ssh-dss AAAAB3NzaC1kc3MAAAAB', '-----BEGIN OPENSSH PRIVATE KEY-----',
    `ssh-ed25519-cert-v01@openssh.com ${blob}`, `${type} ${blob}AAAA`, `${good}${good}`,
  ] // prettier-ignore
  for (const key of wrong) {
    const { status, body } = await add(key)
    assert.equal(status, 400, key)
    assert.equal(typeof body.error, 'string')
  }
  assert.deepEqual((await ann.call('GET', '/api/user/ssh-keys')).body.keys, [])
})

test('a key that the person has is refused with 409, another person may have it, and 20 are the most', async () => {
  const line = newKey('-t', 'ed25519')
  assertOk(await add(line))
  assert.equal((await add(line, 'again')).status, 409)
  assertOk(await add(line, '', boss.token))
  for (const more of [
    ['-t', 'ecdsa', '-b', '256'],
    ['-t', 'rsa', '-b', '2048'],
  ])
    assertOk(await add(newKey(...more)))
  for (let count = 3; count < 20; count++) assertOk(await add(newKey('-t', 'ed25519')))
  assert.equal((await add(newKey('-t', 'ed25519'))).status, 409)
})

test('neither an API token nor a takeover adds or removes a key', async () => {
  const { body } = await ann.call('POST', '/api/user/tokens', {
    body: { name: 'x', scopes: ['containers:write'], expires_in: 60 },
  })
  assert.equal((await add(newKey('-t', 'ed25519'), '', body.token)).status, 403)
  const taken = await boss.call('POST', `/api/admin/users/${ann.id}/takeover`, { body: { reason: 'test' } })
  assertOk(taken)
  const token = taken.body.access_token as string
  assert.equal((await add(newKey('-t', 'ed25519'), '', token)).status, 403)
  const [first] = (await ann.call('GET', '/api/user/ssh-keys')).body.keys as { id: number }[]
  assert.equal((await berth.call('DELETE', `/api/user/ssh-keys/${first?.id}`, { token })).status, 403)
})

test('keys are part of what a person gets of their data', async () => {
  const { body } = await ann.call('GET', '/api/user/data')
  assert.equal(body.ssh_keys.length, 20)
  assert.match(body.ssh_keys[0].fingerprint as string, /^SHA256:/)
})

test('a signature of a security key counts when its owner has touched it, for this key and this application', () => {
  const type = 'sk-ssh-ed25519@openssh.com'
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const point = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url')
  const blob = Buffer.concat([field(type), field(point), field('ssh:')])
  const key = parseSshKey(`${type} ${blob.toString('base64')} ann@key`)
  assert.ok(!('problem' in key))
  const hash = (what: Buffer | string) => createHash('sha256').update(what).digest()
  const data = Buffer.from('what is signed')
  const signed = (flags: number, application = 'ssh:') => {
    const rest = Buffer.from([flags, 0, 0, 0, 9])
    return Buffer.concat([sign(null, Buffer.concat([hash(application), rest, hash(data)]), privateKey), rest])
  }
  assert.ok(isSignedBy(key, { algorithm: type, bytes: signed(1), data }))
  assert.ok(!isSignedBy(key, { algorithm: type, bytes: signed(0), data }))
  assert.ok(!isSignedBy(key, { algorithm: type, bytes: signed(1, 'web:'), data }))
  assert.ok(!isSignedBy(key, { algorithm: 'ssh-ed25519', bytes: signed(1).subarray(0, 64), data }))
  assert.ok(!isSignedBy(key, { algorithm: type, bytes: Buffer.alloc(3), data }))
})

test('RSA counts with SHA-2, and not with SHA-1', () => {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 })
  const { n = '', e = '' } = publicKey.export({ format: 'jwk' })
  const number = (text: string) => field(Buffer.concat([Buffer.alloc(1), Buffer.from(text, 'base64url')]))
  const key = readSshKey('ssh-rsa', Buffer.concat([field('ssh-rsa'), number(e), number(n)]))
  assert.ok(!('problem' in key))
  const data = Buffer.from('what is signed')
  assert.ok(isSignedBy(key, { algorithm: 'rsa-sha2-512', bytes: sign('sha512', data, privateKey), data }))
  assert.ok(!isSignedBy(key, { algorithm: 'ssh-rsa', bytes: sign('sha1', data, privateKey), data }))
})

test('the host key follows from the secret of the installation, and OpenSSH reads it', () => {
  const [one, again, other] = [1, 1, 2].map((byte) => hostKeyFrom(Buffer.alloc(32, byte)))
  assert.equal(one?.publicText, again?.publicText)
  assert.notEqual(one?.publicText, other?.publicText)
  const file = path.join(folder, 'host')
  execFileSync('sh', ['-c', 'umask 077; cat > "$0"', file], { input: one?.privateText ?? '' })
  assert.equal(execFileSync('ssh-keygen', ['-yf', file]).toString().trim(), one?.publicText)
})

// Part of npm run test:more: a command over what specification/oidc/discovery states.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { noEngine, runCommand } from '../support/command-line.ts'
import { HostileProvider } from '../support/oidc/hostile-provider.ts'
import { startProvider } from '../support/oidc/provider.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'berth-check-'))
after(() => rmSync(folder, { recursive: true, force: true }))

test('config check says of each provider whether it answers, with keys and clock, and what to enter there', async (t) => {
  const provider = await startProvider(t)
  const [late, other, keyless] = [
    await HostileProvider.start(t),
    await HostileProvider.start(t),
    await HostileProvider.start(t),
  ]
  late.hostility = {
    answers: {
      '/jwks': (response) => {
        const date = new Date(Date.now() - 120_000).toUTCString()
        response.writeHead(200, { date, 'content-type': 'application/json' }).end('{"keys":[{"use":"sig"}]}')
      },
    },
  }
  other.hostility = { metadata: { issuer: 'https://login.example.org' } }
  keyless.hostility = { metadata: { jwks_uri: undefined } }
  const file = path.join(folder, 'providers.json')
  const fields = (issuer: string) => ({ issuer, client_id: 'berth', client_secret: 'a secret' })
  const providers = {
    main: fields(provider.issuer),
    late: fields(late.issuer),
    other: fields(other.issuer),
    keyless: fields(keyless.issuer),
    away: fields('http://127.0.0.1:1'),
  }
  writeFileSync(file, JSON.stringify(providers))
  const settings = { ...noEngine, DATA_DIR: path.join(folder, 'data'), OIDC_PROVIDERS_FILE: file, BASE_DOMAIN: 'x.org' }
  const { code, stdout } = await runCommand(settings, 'config', 'check')
  assert.equal(code, 1)
  assert.match(
    stdout,
    /^provider main {2}answers, 1 key, clock \d s apart, sign-out there; redirect address to enter there: http:\/\/spawner\.x\.org\/api\/auth\/oidc\/main\/callback$/m,
  )
  assert.match(stdout, /^provider late {2}its clock is 1\d\d s behind this machine's: set both by NTP$/m)
  assert.match(stdout, /^provider other {2}it names another issuer; enter issuer: https:\/\/login\.example\.org$/m)
  assert.match(stdout, /^provider keyless {2}its discovery document lacks jwks_uri$/m)
  assert.match(stdout, /^provider away {2}.*(ECONNREFUSED|fetch failed|bad port)/m)
  assert.doesNotMatch(stdout, /a secret/)
})

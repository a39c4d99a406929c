import assert from 'node:assert/strict'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { localize } from '@berth/texts/localize.ts'
import { configWarnings, fileSystemMagic, networkFileSystem } from './config-warnings.ts'
import { addressesFor, readConfig } from './config.ts'

const GiB = 1024 ** 3

function found(env: Record<string, string>, total = 64 * GiB, file = '', fileSystem = 0xef53): string {
  const { config, problems } = readConfig(env, () => file)
  assert.ok(config, problems.join())
  const findings = configWarnings(config, addressesFor(config, 80), total, () => fileSystem)
  for (const finding of findings) assert.notEqual(localize('en', finding), localize('de', finding))
  return findings.map((finding) => localize('en', finding)).join('\n')
}

const behindProxy = {
  BASE_DOMAIN: 'berth.example.org',
  PREFERRED_URL_SCHEME: 'https',
  TRUSTED_PROXIES: '127.0.0.1',
  SMTP_URL: 'smtp://mail.example.org',
}

test('the defaults on this machine, and a public Berth behind its proxy, have no finding', () => {
  assert.equal(found({}), '')
  assert.equal(found(behindProxy), '')
  assert.equal(found({ ...behindProxy, HOST: '0.0.0.0', METRICS_LISTEN: '127.0.0.1:9100' }), '')
})

const cases: readonly [Record<string, string>, RegExp][] = [
  [
    { ...behindProxy, DATABASE_URL: 'postgres://db/berth', NODE_ADDRESS: '10.0.0.5:7070' },
    /^NODE_ADDRESS .*NODE_SECRET/,
  ],
  // Several nodes did not start without a mail server, although one node does.
  [
    { DATABASE_URL: 'postgres://db/berth', NODE_ADDRESS: '10.0.0.5:7070', NODE_SECRET: 's'.repeat(32) },
    /^NODE_ADDRESS is set without SMTP_URL/,
  ],
  [{ BASE_DOMAIN: '127.0.0.1:8080' }, /leads nowhere.*SPAWNER_SUBDOMAIN=/],
  [
    { ...behindProxy, PREFERRED_URL_SCHEME: 'http' },
    /^Tokens travel over plain http to http:.*PREFERRED_URL_SCHEME=https/,
  ],
  [{ HOST: '0.0.0.0' }, /^HOST=0\.0\.0\.0 answers other machines over plain http/],
  [{ HOST: '::' }, /^HOST=:: answers/],
  [{ ...behindProxy, TRUSTED_PROXIES: '' }, /TRUSTED_PROXIES names none/],
  [{ ...behindProxy, TRUSTED_PROXIES: '10.0.0.1, 0.0.0.0/0' }, /^TRUSTED_PROXIES=0\.0\.0\.0\/0 trusts/],
  [{ ...behindProxy, SMTP_URL: '' }, /^SMTP_URL is not set.*berth\.example\.org/],
  [{ ...behindProxy, SMTP_TLS: 'opportunistic' }, /^SMTP_TLS=opportunistic: .* mail\.example\.org unencrypted/],
  [{ HOST_RULES: 'off' }, /^HOST_RULES=off/],
  [{ REQUESTS_PER_MINUTE: '0' }, /^REQUESTS_PER_MINUTE=0/],
  [
    { ...behindProxy, SSH_LISTEN: '127.0.0.1:2222' },
    /^SSH_LISTEN=127\.0\.0\.1:2222 is reached from this machine alone/,
  ],
  [
    { ENGINE: 'kubernetes', SSH_LISTEN: '0.0.0.0:2222' },
    /^SSH_LISTEN with ENGINE=kubernetes: nothing of Berth is in pods/,
  ],
  [{ METRICS_LISTEN: '0.0.0.0:9100' }, /^METRICS_LISTEN=0\.0\.0\.0:9100 answers other machines.*METRICS_TOKEN/],
]
for (const [env, pattern] of cases)
  test(`${JSON.stringify(env)} is one finding`, () => {
    assert.match(found(env), pattern)
    assert.equal(found(env).split('\n').length, 1, found(env))
  })

test("types that let visitors in are reported, each with what it means for visitors' own containers", () => {
  const told = (fields: object) => found({ CONTAINER_TEMPLATES: JSON.stringify({ a: { image: 'x', ...fields } }) })
  assert.equal(told({}), '')
  assert.match(told({ access: 'public' }), /^a: access: public shows its pages to visitors in a sandbox/)
  assert.match(told({ access: 'authenticated' }), /^a: access: authenticated .* refuses whatever they load/)
  for (const access of ['authenticated', 'public'])
    assert.match(
      told({ access, sandbox_visitors: false }),
      /opens each visitor's own containers to the owner of the container they visit/,
    )
})

test('with subdomain routing visitors need no sandbox, and templates for both routing modes are no finding', () => {
  const told = (fields: object) =>
    found({ CONTAINER_ROUTING: 'subdomain', CONTAINER_TEMPLATES: JSON.stringify({ a: { image: 'x', ...fields } }) })
  assert.equal(told({ access: 'public' }), '')
  assert.equal(told({ access: 'authenticated', sandbox_visitors: false }), '')
  assert.equal(told({ strip_prefix: false }), '')
})

test('a GitLab whose claim of groups makes memberships without member_groups is reported', () => {
  const told = (fields: string) => found({ OIDC_PROVIDERS_FILE: 'f' }, 64 * GiB, `main: {client_id: a, ${fields}}`)
  const [gitlab, own] = ['issuer: "https://gitlab.com"', 'issuer: "https://git.example.org"']
  assert.equal(told(gitlab), '')
  assert.match(told(`${gitlab}, groups_claim: groups`), /^Provider main: .*the claim groups .*Set member_groups/)
  assert.match(told(`${own}, groups_claim: groups_direct`), /^Provider main: /)
  assert.equal(told(`${own}, groups_claim: groups_direct, member_groups: [school/*]`), '')
  assert.equal(told(`${own}, groups_claim: groups`), '', 'who makes groups there is not known')
})

test('SQLite on a network file system is reported, a folder beside PostgreSQL is not', () => {
  const told = (env: Record<string, string>, type: number) => found(env, 64 * GiB, '', type)
  assert.match(told({ DATA_DIR: '/mnt/share' }, 0x6969), /network file system \(NFS\): \/mnt\/share\..*DATABASE_URL/)
  assert.equal(told({ DATA_DIR: '/mnt/share' }, 0x58465342), '')
  assert.equal(told({ DATABASE_URL: 'postgres://db/berth' }, 0x6969), '')
})

test('every template has a limit of memory; one that the machine does not have is none', () => {
  const CONTAINER_TEMPLATES =
    '{"small":{"image":"x"},"large":{"image":"x","memory":"8g"},"huge":{"image":"x","memory":"99g"}}'
  assert.equal(found({ CONTAINER_TEMPLATES }, 100 * GiB), '')
  assert.match(
    found({ CONTAINER_TEMPLATES }, 8 * GiB),
    /^The memory of large, huge \(8.0 GiB\) is as much as .*\(8.0 GiB\)/,
  )
})

test('network file systems are known by the type that the kernel reports, others have no name', () => {
  const types = [0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x01021997]
  assert.deepEqual(types.map(networkFileSystem), ['NFS', 'SMB', 'SMB', 'SMB', '9p'])
  // ext4, btrfs, xfs, tmpfs, overlay, zfs
  for (const type of [0xef53, 0x9123683e, 0x58465342, 0x01021994, 0x794c7630, 0x2fc12fc1])
    assert.equal(networkFileSystem(type), undefined)
})

test('a folder that is not there yet has the file system in which it would be made', () => {
  const type = fileSystemMagic(tmpdir())
  assert.ok(type)
  assert.equal(fileSystemMagic(path.join(tmpdir(), 'berth-none', 'data')), type)
  assert.equal(fileSystemMagic(`${process.execPath}/data`), undefined)
})

test('types of the same application that share one home are named, others are not', () => {
  const types = (...all: object[]) =>
    found({ CONTAINER_TEMPLATES: JSON.stringify(Object.fromEntries(all.map((each, at) => [`t${at}`, each]))) })
  const jupyter = { image: 'quay.io/jupyter/minimal-notebook:1', home_of: 'user', idle_probe: 'jupyter' }
  const [lab, notebook] = [
    { ...jupyter, command: ['lab'] },
    { ...jupyter, image: 'quay.io/jupyter/minimal-notebook@sha256:' + 'a'.repeat(64) },
  ]
  const editor = { image: 'codercom/code-server:4', home_of: 'user', idle_probe: 'code-server' }
  assert.match(types(lab, notebook, editor), /^Types t0, t1 are the same application and have home_of: user/)
  assert.equal(types(lab, editor), '')
  assert.equal(types(lab, { ...notebook, home_of: 'type' }), '')
  const python = { image: 'python:3', home_of: 'user' }
  assert.equal(types({ ...python, command: ['streamlit'] }, { ...python, command: ['gradio'] }), '')
})
